"""Shows the repository's Markdown in the site as GitHub shows it: its files as pages, its links and its anchors.

- A page that is only a link to a Markdown file outside `docs/` shows that file.
- A link to a file outside `docs/` leads to its page, or to the file on the web if pyproject.toml knows where, or to a
  copy. A link to a folder is one to the `README.md` in it or above it.
- `<a id="..."></a>` is a target that links can name.
- The list of the operators is the parent of their pages.
"""

import os
import re
import tomllib
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from dmlcy import specs

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
with (ROOT / "pyproject.toml").open("rb") as file:
    REPOSITORY = tomllib.load(file)["project"].get("urls", {}).get("Repository")

LINK = re.compile(r"(?<=\]\()([^\s()#:]+)(#[^\s()]*)?(?=\))")
OPERATORS = "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(map(str.lower, specs.operators())) + "\n```\n"
ANCHOR = re.compile(r'<a id="([^"]+)">')


def shown_files() -> dict[Path, Path]:
    """Files outside `docs/`, and the page that shows each."""
    pages = {ROOT / "README.md": DOCS / "index.md"}
    for page in DOCS.glob("*.md"):
        link = re.fullmatch(r"\[.*\]\((\.\./.*\.md)\)", page.read_text(encoding="utf-8").strip())
        if link:
            pages[(DOCS / link[1]).resolve()] = page
    return pages


PAGES = shown_files()
ORIGINS = {page: origin for origin, page in PAGES.items() if page.name != "index.md"}


def show_repository(app: Sphinx, docname: str, content: list[str]) -> None:
    """Put the file in place of the page that links to it, and lead links to where things are in the site."""
    page = DOCS / f"{docname}.md"
    origin = ORIGINS.get(page, page)
    if origin != page:
        content[0] = origin.read_text(encoding="utf-8")
        app.env.note_dependency(origin)
    if docname == "reference/index":
        content[0] += OPERATORS
    content[0] = LINK.sub(lambda link: target(link[1], origin.parent, page.parent) + (link[2] or ""), content[0])


def target(link: str, folder: Path, site_folder: Path) -> str:
    """The target of a link of a file in `folder`, on a page in `site_folder`."""
    file = (folder / link).resolve()
    if not file.exists() or not file.is_relative_to(ROOT):
        return link
    if file.is_dir():
        file = next(above / "README.md" for above in (file, *file.parents) if (above / "README.md").exists())
    file = PAGES.get(file, file)
    if REPOSITORY and not file.is_relative_to(DOCS):
        return f"{REPOSITORY}/blob/main/{file.relative_to(ROOT).as_posix()}"
    return Path(os.path.relpath(file, site_folder)).as_posix()


class RawAnchors(SphinxTransform):
    """Makes anchors in raw HTML known to MyST before it resolves links."""

    default_priority = 700

    def apply(self, **kwargs: object) -> None:
        """Add them to the slugs of the headings."""
        slugs = self.document.myst_slugs
        for node in self.document.findall(nodes.raw):
            for name in ANCHOR.findall(node.astext()):
                slugs[name] = (node.line, name, name)
        self.env.metadata[self.env.docname]["myst_slugs"] = slugs


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("source-read", show_repository)
    app.add_transform(RawAnchors)
    return {"parallel_read_safe": True}
