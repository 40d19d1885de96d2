"""The built site in Chromium: search, error ids, and that no page looks broken."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from searched import FIRST

from dmlcy import specs

webdriver = pytest.importorskip("selenium.webdriver", reason="the browser test needs pip install '.[browser]'")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

PROGRAMS = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
MISSING = [name for name, path in PROGRAMS.items() if path is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"the browser test needs {' and '.join(MISSING)}")

SWITCHES = """
    --headless --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync
"""
WIDE, NARROW = 1280, 390
MODES = ("light", "dark")
IN_MODE = """
    document.documentElement.dataset.mode = document.documentElement.dataset.theme = arguments[0];
"""
IN_VIEW = """
    const box = document.getElementById(arguments[0]).getBoundingClientRect();
    const header = document.querySelector(".bd-header").getBoundingClientRect();
    return header.bottom <= box.top && box.top < window.innerHeight;
"""
BROKEN_IMAGES = "return [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src);"
FROM_ELSEWHERE = """
    return performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith(location.origin));
"""
OUTSIDE = """
    const clips = e => getComputedStyle(e).overflowX != "visible";
    const scrolls = e => e.closest("article") && (clips(e) || scrolls(e.parentElement));
    const wide = e => e.getBoundingClientRect().right > window.innerWidth + 1 && !scrolls(e);
    const page = document.documentElement;
    return [...document.querySelectorAll("article *")].filter(wide).map(e => e.outerHTML.slice(0, 80))
        .concat(page.scrollWidth > window.innerWidth ? ["the page"] : []);
"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and writes no log."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium, with a profile of its own."""
    options = webdriver.ChromeOptions()
    options.binary_location = PROGRAMS["chromium"]
    for switch in SWITCHES.split():
        options.add_argument(switch)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(PROGRAMS["chromedriver"]))
    driver.set_page_load_timeout(60)
    yield driver
    driver.quit()


def resize(browser: Any, width: int) -> None:
    """Gives the page that many pixels; a window is never narrower than 500."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


NAME = specs.operators()[0]
ID = next(id_ for id_ in specs.ids() if id_.startswith(f"DML-{NAME}-"))


TYPED = """
    layer norm, bilinear, np.pad, transpose, im2col, pixel shuffle, matmul, conv2d, onnx model, 80070057, 0x80070057,
    E_INVALIDARG, DXGI_ERROR_DEVICE_HUNG, Conv, DML_GEMM_OPERATOR_DESC, avg_pool2d, ReduceMean, NonMaxSuppression
"""
WORDS = [" ".join(word.split()) for word in TYPED.split(",")]
PAGES = {
    **{word: FIRST[word] for word in WORDS},
    **dict.fromkeys((NAME, ID), f"reference/{NAME.lower()}"),
    "ULP": "glossary",
}


@pytest.mark.parametrize(("term", "page"), PAGES.items())
def test_a_word_that_is_typed_finds_its_page_first(browser: Any, address: str, term: str, page: str) -> None:
    resize(browser, WIDE)
    browser.get(f"{address}/index.html")
    browser.find_element(By.CSS_SELECTOR, ".search-button__button").click()
    field = browser.find_element(By.CSS_SELECTOR, "dialog input[type=search], .search-button__search-container input")
    field.send_keys(term)
    field.submit()
    found = WebDriverWait(browser, 30).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#search-results li a"))
    assert found[0].get_attribute("href").startswith(f"{address}/{page}.html")
    found[0].click()
    assert browser.current_url.startswith(f"{address}/{page}.html")
    assert browser.find_element(By.TAG_NAME, "h1").text


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_an_error_id_leads_to_its_rule(browser: Any, address: str, width: int) -> None:
    resize(browser, width)
    browser.get(f"{address}/reference/errors.html")
    link = browser.find_element(By.CSS_SELECTOR, "article a[href*='.html#DML-']")
    id_ = link.get_attribute("href").partition("#")[2]
    link.click()
    assert browser.current_url.endswith(f"#{id_}") and not browser.current_url.startswith(f"{address}/reference/errors")
    WebDriverWait(browser, 10).until(lambda b: b.execute_script(IN_VIEW, id_))
    row = browser.find_element(By.ID, id_).find_element(By.XPATH, "ancestor-or-self::tr | ancestor-or-self::p").text
    assert id_ in row or id_.endswith(f"-{row.split()[0]}")  # errors of fields share a row, which begins with the slug


MOVED = [(f"#{ID}", f"{NAME.lower()}.html#{ID}"), (f"#{NAME}", f"{NAME.lower()}.html#errors-of-the-fields")]


@pytest.mark.parametrize(("old", "new"), [*MOVED, ("#DML-MODEL-json", "errors.html#DML-MODEL-json")])
def test_an_old_link_to_an_error_leads_to_its_page(browser: Any, address: str, old: str, new: str) -> None:
    browser.get("about:blank")
    browser.get(f"{address}/reference/errors.html{old}")
    WebDriverWait(browser, 10).until(lambda b: b.current_url == f"{address}/reference/{new}")
    assert browser.find_elements(By.CSS_SELECTOR, f"[id='{new.partition('#')[2]}']")


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_catalogue_is_filtered(browser: Any, address: str, width: int) -> None:
    resize(browser, width)
    browser.get(f"{address}/reference/catalogue.html")
    lists = [Select(one) for one in browser.find_elements(By.CSS_SELECTOR, ".filtered select")]
    shown = browser.find_element(By.CSS_SELECTOR, ".filtered output")
    known = specs.catalogue()
    assert shown.text == f"{len(known)} of {len(known)}"
    kind, family, level, *states = lists  # there is no list of states if all operators run
    assert len(states) == (len({row["state"] for row in known.values()}) > 1)
    for one, by in ((kind, None), (level, "since"), *((state, "state") for state in states)):
        for text in [option.text for option in one.options][1:]:
            one.select_by_visible_text(text)
            wanted = sum(
                row[by] == text if by else row["kind"] == text.replace(" ", "_").lower() for row in known.values()
            )
            assert shown.text == f"{wanted} of {len(known)}" and wanted
        one.select_by_visible_text("all")
    families = {name: specs.operator(name)["operator"]["family"] for name in known}
    family.select_by_visible_text(families[NAME])
    assert shown.text == f"{sum(one == families[NAME] for one in families.values())} of {len(known)}"
    for state in states:
        for text in [option.text for option in state.options][1:]:
            state.select_by_visible_text(text)
            wanted = sum(families[name] == families[NAME] and row["state"] == text for name, row in known.items())
            assert shown.text == f"{wanted} of {len(known)}"


@pytest.fixture
def chosen(browser: Any) -> Iterator[Callable[[str], None]]:
    """A function that chooses the mode in which the next pages are opened."""
    scripts = []

    def choose(mode: str) -> None:
        source = f"localStorage.setItem('mode', '{mode}'); localStorage.setItem('theme', '{mode}');"
        scripts.append(browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source}))

    yield choose
    for script in scripts:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


@pytest.mark.parametrize("mode", MODES)
def test_a_page_opens_in_the_mode_that_was_chosen(
    browser: Any, address: str, chosen: Callable[[str], None], mode: str
) -> None:
    chosen(mode)
    for page in ("index", f"reference/{NAME.lower()}"):
        browser.get(f"{address}/{page}.html")
        assert browser.execute_script("return document.documentElement.dataset.theme") == mode


def test_no_page_is_broken(browser: Any, address: str, site: Path, chosen: Callable[[str], None]) -> None:
    """Each page is opened once: it is laid out in both modes, wide and narrow."""
    pages = [file.relative_to(site).as_posix() for file in sorted(site.rglob("*.html")) if "_static" not in file.parts]
    assert "index.html" in pages
    chosen(MODES[0])
    browser.get_log("browser")
    broken = {}
    widths = [WIDE, NARROW]
    resize(browser, WIDE)
    for page in pages:
        browser.get(f"{address}/{page}")
        assert browser.execute_script("return document.documentElement.dataset.theme") == MODES[0]
        found: dict[str, Any] = {}
        for number, width in enumerate(widths):
            if number:  # each page begins in the width in which the one before it ended
                resize(browser, width)
            for mode in reversed(MODES) if number else MODES:
                found[f"outside {mode} {width}"] = browser.execute_script(IN_MODE + OUTSIDE, mode)
        widths.reverse()
        found |= {
            "errors": [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"],
            "images": browser.execute_script(BROKEN_IMAGES),
            "from elsewhere": browser.execute_script(FROM_ELSEWHERE),
        }
        if any(found.values()):
            broken[page] = found
    assert broken == {}
