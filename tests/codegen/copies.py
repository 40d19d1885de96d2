"""A checkout with as many specs as DirectML has operators: those of this checkout, copied under other names.

python -m tests.codegen.copies DIR makes it. The commands below then measure the time that codegen takes, with an edit
or none before each: time python -m codegen --root DIR gen
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/index.md", "docs/install.md", "docs/benchmarks/results.json")


def copied(folder: Path, count: int | None = None) -> list[str]:
    """Makes the checkout in an empty folder, with so many specs; returns the names of its operators."""
    shutil.copytree(ROOT / "specs", folder / "specs")
    for page in PAGES:
        if (ROOT / page).exists():
            (folder / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / page, folder / page)
    originals = sorted((folder / "specs" / "operators").glob("*/*.toml"))
    names = {path: tomllib.loads(path.read_text(encoding="utf-8"))["operator"]["name"] for path in originals}
    catalogue = folder / "specs" / "catalogue.toml"
    head, *entries = re.split(r"(?m)^(?=\[\[operator\]\])", catalogue.read_text(encoding="utf-8"))
    of_name = {tomllib.loads(entry)["operator"][0]["name"]: entry for entry in entries}
    wanted = len(entries) if count is None else count
    kept = {name: of_name[name] for name in names.values()}
    for copy in range(1, wanted // len(names) + 1):
        for path, name in list(names.items())[: wanted - len(kept)]:
            kept[renamed(name, copy)] = in_catalogue(of_name[name], name, copy)
            text = in_spec(path.read_text(encoding="utf-8"), set(names.values()), copy)
            path.with_name(f"{renamed(name, copy).lower()}.toml").write_text(text, encoding="utf-8")
    others = [of_name[name] for name in of_name if name not in kept][: len(entries) - len(kept)]
    catalogue.write_text("".join([head, *kept.values(), *others]), encoding="utf-8")
    (folder / "specs" / "fused.toml").write_text("", encoding="utf-8")  # it names operators that may have no place now
    return sorted(kept)


def renamed(name: str, copy: int) -> str:
    """The name of a copy of an operator."""
    return f"{name}_COPY_{copy}"


def in_catalogue(entry: str, name: str, copy: int) -> str:
    """The entry of a copy."""
    for old in (f'"{name}"', f"_{name}_OPERATOR_DESC"):
        entry = entry.replace(old, old.replace(name, renamed(name, copy)))
    return re.sub(r"(?m)^(value\s*= )(\d+)", lambda found: f"{found[1]}{int(found[2]) + 1000 * copy}", entry)


def in_spec(text: str, names: set[str], copy: int) -> str:
    """The spec of a copy, which names copies where the original names operators."""
    return re.sub(
        r"\b[A-Z][A-Z0-9_]+\b", lambda found: renamed(found[0], copy) if found[0] in names else found[0], text
    )


if __name__ == "__main__":
    print(len(copied(Path(sys.argv[1]))), "specs")
