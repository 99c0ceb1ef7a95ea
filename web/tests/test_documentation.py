"""Tests that the URLs under /docs/ send only files from the folder of the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from django.test import Client
    from pytest_django.fixtures import Settings


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    docs = tmp_path / "docs"
    (docs / "reference").mkdir(parents=True)
    (docs / "README.html").write_text("the front page")
    (docs / "reference" / "jail.html").write_text("the jail")
    (docs / "search.js").write_text("search()")
    (tmp_path / "secret-key").write_text("secret")
    settings.KEYDROME_DOCS_ROOT = str(docs)
    return docs


@pytest.mark.parametrize(
    ("path", "content", "kind"),
    [
        ("", b"the front page", "text/html; charset=utf-8"),
        ("reference/jail.html", b"the jail", "text/html; charset=utf-8"),
        ("search.js", b"search()", "text/javascript; charset=utf-8"),
    ],
)
def test_a_page_is_sent_with_its_type(
    client: Client, folder: Path, path: str, content: bytes, kind: str
) -> None:
    response = client.get(f"/docs/{path}")
    assert (response.status_code, response.content) == (200, content)
    assert response["Content-Type"] == kind
    assert "script-src 'self'" in response["Content-Security-Policy"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path",
    ["../secret-key", "%2e%2e/secret-key", "/etc/passwd", "reference", "missing.html", "a%00b"],
)
def test_nothing_else_is_sent(client: Client, folder: Path, path: str) -> None:
    assert client.get(f"/docs/{path}").status_code == 404


def test_a_form_cannot_be_sent_to_a_page(client: Client, folder: Path) -> None:
    assert client.post("/docs/").status_code == 405
