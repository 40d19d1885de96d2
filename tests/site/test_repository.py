"""Where the site leads the links of the repository's Markdown."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("sphinx", reason="the site needs pip install '.[docs]'")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def repository() -> ModuleType:
    """The extension of docs/conf.py."""
    spec = importlib.util.spec_from_file_location("repository", ROOT / "docs" / "_extensions" / "repository.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("link", "folder", "page_folder", "leads_to"),
    [
        ("docs/speed.md", ".", "docs", "speed.md"),
        ("../CONTRIBUTING.md", "docs", "docs", "contributing.md"),
        ("../../benchmarks/README.md", "docs/benchmarks", "docs/benchmarks", "../measuring.md"),
        ("../examples/broken", "docs", "docs", "examples.md"),
        ("../README.md", "docs", "docs", "index.md"),
        ("cells.py", "benchmarks", "docs", "../benchmarks/cells.py"),
        ("no-such-file.md", "docs", "docs", "no-such-file.md"),
        ("../../outside.md", "docs", "docs", "../../outside.md"),
    ],
)
def test_links(repository: ModuleType, link: str, folder: str, page_folder: str, leads_to: str) -> None:
    assert repository.target(link, ROOT / folder, ROOT / page_folder) == leads_to


def test_links_to_the_web(repository: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "REPOSITORY", "https://example.org/dmlcy")
    assert repository.target("cells.py", ROOT / "benchmarks", ROOT / "docs").endswith("/blob/main/benchmarks/cells.py")
    assert repository.target("speed.md", ROOT / "docs", ROOT / "docs") == "speed.md"
