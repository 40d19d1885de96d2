"""Sphinx configuration: `sphinx-build -W --keep-going docs build/site` makes the site."""

import os
import sys
from pathlib import Path

import dmlcy

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "dmlcy"
copyright = "the authors of dmlcy"
shown = os.environ.get("DMLCY_SITE_VERSION", dmlcy.__version__)
version = release = dmlcy.__version__ if shown == dmlcy.__version__ else f"{dmlcy.__version__}.dev"

extensions = [
    "mathml",
    "moved_errors",
    "other_names",
    "repository",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_*"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
myst_heading_anchors_html_ids = True  # the anchors that GitHub gives

# Without a network, a text of the few names that the pages use is in place of the whole inventory.
intersphinx_mapping = {
    "numpy": ("https://numpy.org/doc/stable", (None, "_inventories/numpy.txt")),
    "python": ("https://docs.python.org/3", (None, "_inventories/python.txt")),
}
intersphinx_timeout = 5

autodoc_typehints = "none"  # numpydoc's sections say them
numpydoc_show_class_members = False
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = "dmlcy"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("filter.js", {"defer": "defer"}), ("names.js", {"defer": "defer"})]
html_search_scorer = str(Path(__file__).parent / "_static/scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_use_index = False
html_theme_options = {
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "logo": {"text": "dmlcy"},
    "navbar_align": "left",
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_toc_level": 2,
}
# Only what is published among other versions asks for their list: docs/_versions.py writes it.
if url := os.environ.get("DMLCY_SITE_URL"):
    html_theme_options |= {
        "check_switcher": False,  # it is published with the site
        "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
        "show_version_warning_banner": True,
        "switcher": {
            "json_url": f"{url.rstrip('/')}/versions.json",
            "version_match": shown,
        },
    }
html_sidebars = {"index": [], "install": []}
