"""Names of a module that are in other modules, each of which is imported when one of its names is first asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from threading import RLock

# No process is forked while another thread imports: the child would wait for that thread, which it does not have.
_importing = RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_importing.acquire, after_in_parent=_importing.release, after_in_child=_importing.release
    )


def _advice(words: str, name: str) -> str:
    with _importing:
        said = import_module(words).advice(name)
    return f". {said}" if said else ""


def later(module: str, homes: Mapping[str, str], words: str | None = None) -> Callable[[str], object]:
    """The ``__getattr__`` of a module; ``homes`` has the module of each name, which may be that of the name itself.

    The module ``words`` has a function ``advice``, which says what to take in place of a name that is in no module.
    """

    def __getattr__(name: str) -> object:
        if name == "__test__":  # doctest looks for what is in the module, and for this
            values = {name: getattr(sys.modules[module], name) for name in homes}
            return {name: value for name, value in values.items() if getattr(value, "__module__", None) == module}
        if name not in homes:
            advice = "" if words is None or name.startswith("_") else _advice(words, name)
            raise AttributeError(f"module {module!r} has no attribute {name!r}{advice}")
        with _importing:
            home = import_module(homes[name])
        value = home if home.__name__ == f"{module}.{name}" else getattr(home, name)
        setattr(sys.modules[module], name, value)
        return value

    return __getattr__
