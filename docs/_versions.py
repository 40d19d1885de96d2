"""Puts the site of a version beside those of other versions: ``python docs/_versions.py SITE FOLDER VERSION URL``.

``SITE`` is built with ``DMLCY_SITE_URL=URL`` and ``DMLCY_SITE_VERSION=VERSION``. ``FOLDER`` is what ``URL`` shows: a
folder for each version, the list of versions that their pages read, and a page that leads to the newest release.
"""

import json
import re
import shutil
import sys
from pathlib import Path

LIST = "versions.json"
RELEASE = re.compile(r"\d+(\.\d+)*")
PAGE = """<!doctype html>
<meta charset="utf-8">
<title>dmlcy</title>
<meta http-equiv="refresh" content="0; url={0}/">
<a href="{0}/">dmlcy {0}</a>
"""


def rank(version: str) -> tuple[bool, list[int], str]:
    """The order of versions: releases by their numbers, other ones before them."""
    numbers = [int(number) for number in version.split(".")] if RELEASE.fullmatch(version) else []
    return bool(numbers), numbers, version


def publish(site: Path, folder: Path, version: str, url: str) -> None:
    """Replace the site of this version, and write the list of versions again."""
    place = folder / version
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(site, place, ignore=shutil.ignore_patterns(".doctrees", ".buildinfo"))
    found = sorted((path.parent.name for path in folder.glob("*/index.html")), key=rank, reverse=True)
    rows = [{"name": name, "version": name, "url": f"{url.rstrip('/')}/{name}/"} for name in found]
    newest = {**rows[0], "name": f"{found[0]} (newest)", "preferred": True}
    (folder / LIST).write_text(json.dumps([newest, *rows[1:]], indent=1) + "\n", encoding="utf-8")
    (folder / "index.html").write_text(PAGE.format(found[0]), encoding="utf-8")
    (folder / ".nojekyll").touch()  # else GitHub leaves out the folders whose names begin with an underscore


if __name__ == "__main__":
    publish(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4])
