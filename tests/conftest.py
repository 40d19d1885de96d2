"""Makes codegen importable beside the package. The checkout comes last: an installed dmlcy is the one tested."""

import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))

from depth import PROFILES  # noqa: E402

os.environ.pop("FORCE_COLOR", None)  # reports are compared as they are without colours
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    # The tests start hundreds of processes, of which each would compile again what it imports.
    sys.dont_write_bytecode = False

# Files that take long: they come first, so that no processor works on them alone at the end.
LONG = (
    "codegen/test_build.py", "devices/test_fail.py", "devices/test_pass.py", "operators/test_bad_input.py",
    "operators/test_differential.py", "operators/test_testing.py", "site", "typing",
)  # fmt: skip


for name, count in PROFILES.items():
    settings.register_profile(name, settings(max_examples=count))  # without chance where CI is set, as by default


def pytest_configure(config: pytest.Config) -> None:
    """Keep this order where pytest-xdist would begin with the files of the most tests; few examples of Hypothesis."""
    if not config.getoption("hypothesis_profile", None):
        settings.load_profile("few")
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The collected tests stay to the end: the garbage collector looks at them neither now nor later.

    Plans, specs and tables that tests make stay, too: it looks at what there is after 10,000 new objects, not 700.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes long; leave to other runs of ``.ci/deep`` what is not in turn."""
    from depth import RUN, left_out

    if RUN is not None:
        others = {*left_out(items, RUN)}
        config.hook.pytest_deselected(items=[item for item in items if item in others])
        items[:] = [item for item in items if item not in others]
    first = tuple(str(ROOT / "tests" / name) for name in LONG)
    items.sort(key=lambda item: not str(item.path).startswith(first))


@pytest.fixture(scope="session")
def own_checkout(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A folder with what is generated of the spec of a test, in which the operator is described and does not run."""
    from own_specs import SPECS, generated

    root = tmp_path_factory.mktemp("described")
    return root, generated(root, [SPECS / "reduce" / "argmax.toml"])


@pytest.fixture
def described(own_checkout: tuple[Path, Any]) -> Iterator[str]:
    """The name of an operator that is described and does not run; the package has it for the time of the test."""
    import caches
    from own_specs import describe

    with pytest.MonkeyPatch.context() as patch:
        describe(patch, *own_checkout)
        caches.clear()
        yield own_checkout[1].operators[0].name
    caches.clear()
