"""Names of test cases that are the same in every process, so that several may share the tests."""

import re


def case_name(value: object) -> str:
    """The repr without addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
