"""Internal links of the built site lead to files and ids that exist."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

DOCS = Path(__file__).parents[2] / "docs"


class Page(HTMLParser):
    """The ids of a page, and what it refers to."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect ids and links."""
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """Every page of the site."""
    return {file: Page(file) for file in site.rglob("*.html") if "_static" not in file.parts}


def broken_links(pages: dict[Path, Page]) -> list[str]:
    """Links to files or ids that do not exist."""
    broken = []
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            known = pages.get(target)
            if not target.is_file() or (parts.fragment and known and unquote(parts.fragment) not in known.ids):
                broken.append(f"{file.name}: {link}")
    return broken


def test_internal_links_resolve(pages: dict[Path, Page]) -> None:
    assert sum(len(page.links) for page in pages.values()) > 1000
    assert broken_links(pages) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text('<p id="here"><a href="#here"><a href="#there"><a href="page.html#here"><img src="none.svg">')
    assert broken_links({file: Page(file)}) == ["page.html: #there", "page.html: none.svg"]


def test_no_id_occurs_twice(pages: dict[Path, Page]) -> None:
    for file, page in pages.items():
        assert [id for id in set(page.ids) if page.ids.count(id) > 1] == [], file


def test_the_anchors_of_the_reference_are_ids(site: Path, pages: dict[Path, Page]) -> None:
    for source in sorted((DOCS / "reference").glob("*.md")):
        anchors = re.findall(r'<a id="([^"]+)">', source.read_text(encoding="utf-8"))
        assert set(anchors) <= set(pages[site / "reference" / f"{source.stem}.html"].ids), source
