"""Leads links to `errors.html#DML-...`, where the ids of the operators were once, to the id on its operator's page."""

from sphinx.application import Sphinx

SCRIPT = """
addEventListener("DOMContentLoaded", () => {
  const moved = location.hash.match(/^#(?:DML-)?([A-Z][A-Z0-9_]*)(-.*)?$/);
  if (moved && !document.getElementById(location.hash.slice(1)))
    location.replace(moved[1].toLowerCase() + ".html" + (moved[2] ? location.hash : "#errors-of-the-fields"));
});
"""


def add_script(app: Sphinx, page: str, template: str, context: object, doctree: object) -> None:
    """Put the script into the page of the errors."""
    if page == "reference/errors":
        app.add_js_file(None, body=SCRIPT)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True}
