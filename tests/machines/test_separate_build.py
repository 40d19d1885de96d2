"""The folder of a separate build has the files of the checkout."""

from __future__ import annotations

from pathlib import Path

from tests import separate_build


def test_files_of_an_earlier_build_are_removed(tmp_path: Path) -> None:
    """A file is removed if it is gone, or if its content is another, however new it is. Compiled files stay."""
    root, built = tmp_path / "root", tmp_path / "built"
    for folder, files in {
        root: {"a/same.py": "1", "a/changed.py": "2"},
        built: {"a/same.py": "1", "a/changed.py": "3", "a/gone.py": "4", "a/fast.so": "5", "a/__pycache__/x.pyc": "6"},
    }.items():
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    separate_build.forget(root, built)
    left = {str(path.relative_to(built)) for path in built.rglob("*") if path.is_file()}
    assert left == {"a/same.py", "a/fast.so", "a/__pycache__/x.pyc"}
