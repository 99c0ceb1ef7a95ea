"""Tests of the documentation as a site: Sphinx makes it without a warning, its links work, and the browser shows it."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from tools.screenshots import launch_options

if TYPE_CHECKING:
    from typing import Literal

    from pytest_django.fixtures import Settings
    from pytest_django.live_server_helper import LiveServer

ROOT = Path(__file__).resolve().parents[1]
EXCESS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Elements(HTMLParser):
    """Collects the links, the anchors, and the inline scripts and styles of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.inline: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.links |= {values[name] for name in ("href", "src", "action") if name in values}
        self.anchors |= {values["id"]} if "id" in values else set()
        if "style" in values or tag == "style" or (tag == "script" and "src" not in values):
            self.inline.append(tag)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the documentation as `./dev up` does, and return its folder. A warning of Sphinx is an error."""
    folder = tmp_path_factory.mktemp("documentation") / "docs"
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-q", "-c", "docs/site", "docs", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert made.returncode == 0, made.stderr
    return folder


def pages(site: Path) -> dict[Path, Elements]:
    return {path: Elements(path.read_text()) for path in site.rglob("*.html")}


def test_every_markdown_file_is_a_page_in_the_navigation(site: Path) -> None:
    files = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    front = pages(site)[site / "README.html"]
    expected = {str(path.with_suffix(".html")) for path in files} - {"README.html"}
    assert expected <= front.links
    assert len(expected) > 50


def test_all_links_within_the_documentation_work(site: Path) -> None:
    found = pages(site)
    broken = []
    for page, elements in found.items():
        for link in elements.links:
            address, _hash, anchor = link.partition("#")
            address = address.partition("?")[0]
            target = (page.parent / address).resolve() if address else page
            if "://" in link or link.startswith("/"):
                continue
            if not target.is_file() or (anchor and anchor not in found[target].anchors):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert broken == []


def test_no_page_has_inline_scripts_or_styles(site: Path) -> None:
    """The content policy of the site forbids them."""
    found = {str(page): elements.inline for page, elements in pages(site).items()}
    assert {page: tags for page, tags in found.items() if tags} == {}


def test_links_out_of_the_documentation_become_paths(site: Path) -> None:
    text = (site / "README.html").read_text()
    assert 'href="tutorial/first-submission.html"' in text
    assert "Your first submission" in text
    assert "ARCHITECTURE.md</span>" in text
    assert not re.search(r'href="[^"]*ARCHITECTURE', text)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (320, "dark")])
def test_a_reader_finds_a_page_by_searching(
    site: Path,
    settings: Settings,
    live_server: LiveServer,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    theme: Literal["light", "dark"],
) -> None:
    settings.KEYDROME_DOCS_ROOT = str(site)
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_options())  # type: ignore[arg-type] # sets two of many options
        page = browser.new_page(
            base_url=live_server.url,
            viewport={"width": width, "height": 800},
            color_scheme=theme,
        )
        page.on("console", lambda line: errors.append(line.text))
        for path in ("", "reference/structures.html", "reference/kill-matrix.html", "search.html"):
            page.goto(f"/docs/{path}")
            found = Axe().run(page).response["violations"]
            assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []
            assert page.evaluate(EXCESS) <= 0
        page.goto("/docs/")
        page.get_by_role("searchbox").fill("phantom")
        page.keyboard.press("Enter")
        result = page.get_by_role("link", name="Contract A: the ten calls").last
        expect(result).to_be_visible(timeout=20_000)
        result.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Contract A: the ten calls")
        browser.close()
    assert errors == []
