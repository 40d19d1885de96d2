"""The sites of several versions, each in its folder: the list of them that each of their pages reads."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

import dmlcy

DOCS = Path(__file__).parents[2] / "docs"
URL = "https://example.org/dmlcy/"


def test_each_version_has_its_folder_and_the_newest_release_is_shown(tmp_path: Path) -> None:
    publish = runpy.run_path(str(DOCS / "_versions.py"))["publish"]
    site, folder = tmp_path / "site", tmp_path / "published"
    (site / ".doctrees").mkdir(parents=True)
    for version in ("main", "1.9.0", "1.10.0", "1.10.0rc1", "1.9.0"):
        (site / "index.html").write_text(f"{version}, once more" if (folder / version).exists() else version)
        publish(site, folder, version, URL)
    rows = json.loads((folder / "versions.json").read_text())
    assert [row["version"] for row in rows] == ["1.10.0", "1.9.0", "main", "1.10.0rc1"]
    assert [row["version"] for row in rows if row.get("preferred")] == ["1.10.0"]
    assert rows[0]["url"] == f"{URL}1.10.0/" and rows[0]["name"] == "1.10.0 (newest)"
    assert (folder / "1.9.0/index.html").read_text() == "1.9.0, once more"
    assert not (folder / "1.9.0/.doctrees").exists()
    assert 'url=1.10.0/"' in (folder / "index.html").read_text()


def test_pages_read_the_list_only_where_they_are_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DMLCY_SITE_URL", raising=False)
    monkeypatch.delenv("DMLCY_SITE_VERSION", raising=False)
    alone = runpy.run_path(str(DOCS / "conf.py"))
    assert "switcher" not in alone["html_theme_options"] and alone["release"] == dmlcy.__version__
    monkeypatch.setenv("DMLCY_SITE_URL", URL)
    for version, release in ((dmlcy.__version__, dmlcy.__version__), ("main", f"{dmlcy.__version__}.dev")):
        monkeypatch.setenv("DMLCY_SITE_VERSION", version)
        published = runpy.run_path(str(DOCS / "conf.py"))
        switcher = published["html_theme_options"]["switcher"]
        assert switcher == {"json_url": f"{URL}versions.json", "version_match": version}
        assert published["release"] == release
