"""Generation that makes again only what an edit reaches: the same files and errors as from nothing, and little work."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from bad_specs import BASE, WIDEN
from copies import copied
from depth import deep
from planned import specs

from codegen import emit as emit_module
from codegen import incremental
from codegen.diagnostics import SpecError
from codegen.incremental import generate
from codegen.plan import OperatorPlan, Plan
from codegen.store import FOLDER

SQUASH = "specs/operators/window_reduce/squash.toml"
PADDING = "specs/operators/pad/padding1.toml"
FAMILIES = ("pad", "window_scatter", "window_sum")


def files(root: Path) -> dict[str, bytes]:
    """Every file of a checkout except the stored results."""
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return {name: content for name, content in found.items() if not name.startswith(FOLDER)}


def replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def from_nothing(root: Path, other: Path) -> dict[str, bytes] | str:
    """The files that a run in a copy without stored results leaves there, or its errors."""
    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(root, other, ignore=shutil.ignore_patterns("build"))
    try:
        generate(other)
    except SpecError as error:
        return str(error)
    return files(other)


def again(root: Path) -> dict[str, bytes] | str:
    """The same with the results that are stored."""
    try:
        generate(root)
    except SpecError as error:
        return str(error)
    return files(root)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(BASE, tmp_path / "checkout")
    return tmp_path / "checkout"


@pytest.fixture(scope="module", params=["some", pytest.param("all", marks=deep)])
def catalogue(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """As many specs as DirectML has operators, generated once; by default those of the families that tests edit."""
    root = tmp_path_factory.mktemp("catalogue")
    assert len(copied(root)) == 177
    if request.param == "some":
        for path in (root / "specs" / "operators").glob("*/*.toml"):
            if path.parent.name not in FAMILIES:
                path.unlink()
        (root / "specs" / "ids.lock").write_text("", encoding="utf-8")
    done = generate(root)
    assert len(done.loaded) == (177 if request.param == "all" else len([*root.glob("specs/operators/*/*.toml")]))
    return root


def test_nothing_is_done_twice(catalogue: Path) -> None:
    done = generate(catalogue)
    assert (done.changed, done.loaded, done.rendered) == ([], [], [])


def test_a_summary_reaches_few_files(catalogue: Path) -> None:
    replaced(catalogue / PADDING, 'summary = "', 'summary = "In short: ')
    done = generate(catalogue)
    assert done.loaded == [PADDING]
    of_one = [path for path in done.rendered if path.rpartition("/")[2].startswith("padding1.")]
    of_family = [path for path in done.rendered if path.rpartition("/")[2].startswith("pad.")]
    of_all = [output.path for output in emit_module.OUTPUTS if output.of is Plan]
    assert sorted(done.rendered) == sorted([*of_one, *of_family, *of_all])
    assert len(of_one) == sum(output.of is OperatorPlan for output in emit_module.OUTPUTS)
    wanted = {"docs/reference/padding1.md", "docs/reference/index.md", "dmlcy/_generated/functions/padding1.py"}
    assert wanted <= {*done.changed} and not [path for path in done.changed if path.endswith(".pyx")]
    assert all("padding1" in path or path in of_family or path in of_all for path in done.changed)


def test_a_group_reaches_those_that_include_it(catalogue: Path) -> None:
    users = [operator.file for operator in specs().operators.values() if "padding" in operator.include]
    users = [file for file in users if (catalogue / file).exists()]
    path = catalogue / "specs" / "shared" / "padding.toml"
    path.write_text(path.read_text(encoding="utf-8") + "\n# A comment.\n", encoding="utf-8")
    done = generate(catalogue)
    assert users and done.loaded == sorted(users)
    assert done.changed == []


def test_a_file_that_was_changed_is_made_again(catalogue: Path) -> None:
    page = catalogue / "docs" / "reference" / "fold.md"
    module = catalogue / "dmlcy" / "_generated" / "calls" / "pad.pyx"
    before = page.read_bytes(), module.read_bytes()
    page.write_text("Edited.", encoding="utf-8")
    module.unlink()
    (catalogue / "dmlcy" / "_generated" / "kernels" / "gone.pyx").touch()
    done = generate(catalogue)
    assert done.loaded == [] and sorted(done.rendered) == ["dmlcy/_generated/calls/pad.pyx", "docs/reference/fold.md"]
    assert done.changed == [
        "dmlcy/_generated/calls/pad.pyx", "dmlcy/_generated/kernels/gone.pyx", "docs/reference/fold.md"
    ]  # fmt: skip
    assert (page.read_bytes(), module.read_bytes()) == before


# Any edits -----------------------------------------------------------------------------------------------------------


def summary(root: Path, number: int) -> None:
    replaced(root / WIDEN, 'summary = "', f'summary = "{number}: ')


def shared_rule(root: Path, number: int) -> None:
    replaced(root / "specs" / "shared" / "widen.toml", 'doc   = "', f'doc   = "{number}: ')


def enum(root: Path, number: int) -> None:
    member = 'name = "CONSTANT", value = 0, since = "1_0"'
    other = member.replace("CONSTANT", f"ADDED{number}").replace("0,", f"{number + 50},")
    replaced(root / "specs" / "enums.toml", member, f"{other} }}, {{ {member}")


def level(root: Path, number: int) -> None:
    replaced(root / "specs" / "levels.toml", 'directml = "1.', f'directml = "1.{number}')


def error(root: Path, number: int) -> None:
    replaced(root / WIDEN, "doc ", f"dok{number} ")


def error_of_another(root: Path, number: int) -> None:
    replaced(root / SQUASH, "family", f"famly{number}")


def deleted(root: Path, number: int) -> None:
    (root / SQUASH).unlink(missing_ok=True)


def added(root: Path, number: int) -> None:
    shutil.copy(BASE / SQUASH, root / SQUASH)


def repaired(root: Path, number: int) -> None:
    shutil.copy(BASE / WIDEN, root / WIDEN)


def moved(root: Path, number: int) -> None:
    path = root / WIDEN
    if path.exists():
        path.rename(path.with_name(f"widen_{number}.toml"))


def copied_spec(root: Path, number: int) -> None:
    shutil.copy(BASE / WIDEN, root / "specs" / "operators" / "pad" / "twice.toml")


def single(root: Path, number: int) -> None:
    for path in (root / "specs" / "operators" / "pad").glob("*.toml"):
        path.unlink()
    shutil.copy(BASE / WIDEN, root / WIDEN)


def a_page(root: Path, number: int) -> None:
    shutil.rmtree(root / "docs", ignore_errors=True)


def lock(root: Path, number: int) -> None:
    path = root / "specs" / "ids.lock"
    replaced(path, "\nretired:\n", f"DML-X-y-z{number}\n\nretired:\n")


def broken_results(root: Path, number: int) -> None:
    for path in sorted((root / FOLDER).glob("*.pickle"))[number % 3 :: 3]:
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2] if number % 2 else content[:-9] + b"x" + content[-8:])


EDITS = (
    summary, shared_rule, enum, level, error, error_of_another, deleted, added, repaired, moved, copied_spec, single,
    a_page, lock, broken_results,
)  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_any_edits_give_the_files_and_errors_of_a_run_from_nothing(root: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    generate(root)
    for number in range(6):
        for edit in chance.sample(EDITS, chance.randint(1, 2)):
            try:
                edit(root, number)
            except (AssertionError, FileNotFoundError):  # an earlier edit took its place away
                continue
        expected = from_nothing(root, tmp_path / "other")
        assert again(root) == expected, number


def test_a_template_reaches_what_uses_it(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "codegen"
    for name in ("templates", "families"):
        shutil.copytree(emit_module.FOLDER / name, folder / name)
    monkeypatch.setattr(emit_module, "FOLDER", folder)
    monkeypatch.setattr(incremental, "FOLDER", folder)
    generate(root)
    replaced(folder / "templates" / "docs" / "operator.md.j2", "\n", "\nText.\n")
    done = generate(root)
    assert done.loaded == [] and done.rendered == ["docs/reference/squash.md", "docs/reference/widen.md"]
    replaced(folder / "families" / "pad" / "run.pyx.j2", "\n", "\n# Text.\n")
    done = generate(root)
    assert done.loaded == []
    assert done.rendered == ["dmlcy/_generated/kernels/pad.pyx", "tests/codegen/golden/kernels/pad.pyx"]
    assert files(root) == from_nothing(root, tmp_path / "other")


def test_an_operator_with_a_problem_is_never_kept(root: Path) -> None:
    generate(root)
    replaced(root / WIDEN, 'sizes = "padded"', 'sizes = "paded"')
    for _ in range(2):
        with pytest.raises(SpecError, match="unknown name paded"):
            generate(root)


def test_results_that_cannot_be_stored_are_not_missed(root: Path) -> None:
    (root / "build").write_text("in the way")
    assert generate(root).changed
    done = generate(root)
    assert done.changed == [] and len(done.loaded) == 2
