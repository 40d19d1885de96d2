from typing import final

@final
class Call:
    """How an operator is called: its table, and its functions."""

    def __init__(self, *args: object, **kwargs: object) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> tuple[str, ...]: ...
