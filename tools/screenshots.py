"""Takes pictures of the kinds of pages that a running site has: wide and narrow, light and dark.

Usage: .venv/bin/python -m tools.screenshots FOLDER [--url http://127.0.0.1:8000] [--user NAME --password-file FILE]

With --user, the program also takes pictures of the pages that need a log-in. Chromium (Debian's package) must be at
/usr/bin/chromium, or at the path in the environment variable CHROMIUM.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
WIDTHS = {"wide": 1280, "narrow": 360}
HEIGHT = 800
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PUBLIC = {
    "home": "/",
    "about": "/about/",
    "news": "/news/",
    "status": "/status/",
    "compare": "/compare/",
    "configurations": "/boards/configurations/sigmod2009/",
    "login": "/account/login/",
    "signup": "/account/signup/",
    "reset": "/account/password/reset/",
    "missing": "/no/such/page/",
}
PRIVATE = {
    "submit": "/submit/",
    "submissions": "/submissions/",
    "account": "/account/",
    "password": "/account/password/change/",
    "mail": "/account/email/",
    "two-factor": "/account/2fa/",
    "sessions": "/account/sessions/",
    "logout": "/account/logout/",
}


@dataclass(frozen=True)
class Visit:
    """A site and the user who visits it; without a user, only public pages."""

    url: str
    user: str
    password: str


def launch_options() -> dict[str, object]:
    """Return Chromium's options. Root needs --no-sandbox, which is safe because the pages are our own."""
    return {"executable_path": CHROMIUM, "args": ["--no-sandbox"] if os.geteuid() == 0 else []}


def pages(url: str) -> dict[str, str]:
    """Return the paths of the public pages by name.

    They include two boards (rankings), and for each board the page of the first run (judged library) that it shows.
    """
    found = dict(PUBLIC)
    for slug in ("preliminary1", "preliminary2"):
        found[slug] = f"/boards/{slug}/"
        with urllib.request.urlopen(f"{url}/boards/{slug}.json", timeout=10) as answer:  # noqa: S310 - the user's site
            rows = json.load(answer)["rows"]
        if rows:
            found[f"run-{slug}"] = rows[0]["run"]
    return found


def log_in(page: Page, url: str, user: str, password: str) -> None:
    """Log in through the form."""
    page.goto(f"{url}/account/login/")
    page.get_by_label("Username").fill(user)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/submissions/")


def take(browser: Browser, visit: Visit, folder: Path) -> int:
    """Write FOLDER/NAME-WIDTH-THEME.png for every page; return the number of pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for width_name, width in WIDTHS.items():
        for theme in THEMES:
            context = browser.new_context(
                viewport={"width": width, "height": HEIGHT}, color_scheme=theme
            )
            page = context.new_page()
            wanted = pages(visit.url)
            for name, path in wanted.items():
                page.goto(visit.url + path)
                page.screenshot(path=folder / f"{name}-{width_name}-{theme}.png", full_page=True)
            if visit.user:
                log_in(page, visit.url, visit.user, visit.password)
                for name, path in PRIVATE.items():
                    page.goto(visit.url + path)
                    page.screenshot(
                        path=folder / f"{name}-{width_name}-{theme}.png", full_page=True
                    )
            count += len(wanted) + (len(PRIVATE) if visit.user else 0)
            context.close()
    return count


def main() -> int:
    """Take the pictures; return a process exit code."""
    parser = argparse.ArgumentParser(description="Take a picture of every page of a running site.")
    parser.add_argument("folder", type=Path, help="folder to which the pictures are written")
    parser.add_argument(
        "--url",
        default="http://127.0.0.1:8000",
        help="address of the site; default: http://127.0.0.1:8000",
    )
    parser.add_argument(
        "--user", default="", help="also take pictures of the pages that this user sees"
    )
    parser.add_argument("--password-file", type=Path, help="file with the password of the user")
    arguments = parser.parse_args()
    password = arguments.password_file.read_text().strip() if arguments.password_file else ""
    visit = Visit(arguments.url.rstrip("/"), arguments.user, password)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_options())  # type: ignore[arg-type] # sets two of many options
        print(f"wrote {take(browser, visit, arguments.folder)} pictures to {arguments.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
