"""Packages that the builds for other machines need: packages of Debian, wheels of PyPI, in folders of their own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "build" / "machines"
SOURCES: Final = Path("/etc/apt/sources.list.d/debian.sources")


class Missing(Exception):
    """Something that the machine at hand has not and cannot get; the text says what."""


def need(*tools: str) -> None:
    """Raise where a command is not found."""
    lost = [tool for tool in tools if shutil.which(tool) is None]
    if lost:
        raise Missing(f"there is no {' and no '.join(lost)} (CONTRIBUTING.md names their packages)")


def run(command: Sequence[str | Path], folder: Path) -> None:
    """Run a command that needs the network; raise with what it said where it fails."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Missing(f"{command[0]} failed: {' '.join(done.stdout.split())[-300:]}")


def wheels(folder: Path, platforms: Sequence[str], version: str, requirements: Sequence[str]) -> Path:
    """A folder with the packages of wheels for another system, for a version of CPython."""
    site = folder / f"site-{version}-{requirements[0]}"
    if not site.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = site.with_name(f"{site.name}.new")
        kinds = ["--only-binary=:all:", "--implementation=cp", f"--python-version={version}"]
        kinds += [f"--platform={platform}" for platform in platforms]
        run([sys.executable, "-m", "pip", "install", "-q", f"--target={made}", *kinds, *requirements], folder)
        made.rename(site)
    return site


def apt(folder: Path, options: Sequence[str], *commands: Sequence[str]) -> None:
    """Run commands of apt-get that read and change nothing but a folder, after an update."""
    need("apt-get")
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    places = {"Dir::State::Lists": "lists", "Dir::Cache": "cache", "Dir::State::status": "status"}
    own = [f"{place}={folder / name}" for place, name in places.items()]
    given = [part for option in [*own, *options] for part in ("-o", option)]
    for command in (["update"], *commands):
        run(["apt-get", "-qq", *given, *command], folder)


def installed(folder: Path, architecture: str, names: Sequence[str]) -> Path:
    """A folder with the files of packages for another processor, and of their dependencies."""
    root = folder / "root"
    if not root.exists():
        need("dpkg-deb")
        of = [f"APT::Architecture={architecture}", f"APT::Architectures={architecture}"]
        apt(folder, of, ["--download-only", "--no-install-recommends", "-y", "install", *names])
        unpacked = folder / "unpacked"
        for package in sorted((folder / "cache" / "archives").glob("*.deb")):
            run(["dpkg-deb", "-x", package, unpacked], folder)
        unpacked.rename(root)
    return root


def source(folder: Path, name: str) -> Path:
    """The archive of the source of a package, without Debian's changes."""
    found = [*folder.glob(f"{name}_*.orig.tar.*")]
    if not found:
        if not SOURCES.exists():
            raise Missing(f"there is no {SOURCES}, which says where sources are")
        folder.mkdir(parents=True, exist_ok=True)
        lists = SOURCES.read_text(encoding="utf-8").replace("Types: deb\n", "Types: deb-src\n")
        (folder / "sources").mkdir(exist_ok=True)
        (folder / "sources" / SOURCES.name).write_text(lists, encoding="utf-8")
        of = ["Dir::Etc::SourceList=/dev/null", f"Dir::Etc::SourceParts={folder / 'sources'}"]
        apt(folder, of, ["source", "--download-only", "--only-source", "--tar-only", name])
        found = [*folder.glob(f"{name}_*.orig.tar.*")]
    return found[0]
