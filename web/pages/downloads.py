"""Sends the files that contestants need: the headers, the examples and the documentation, singly and as one archive.

Only the files named here can be requested. They are read from the repository that the site runs from, so they match the
site's version.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

if TYPE_CHECKING:
    from pathlib import Path

    from django.http import HttpRequest

KIT = "kit.tar.gz"
# The name of each file on the site, and its path in the repository. The archive has these paths below "kit/", without
# the prefix "api/".
HEADERS = {
    "index.h": "api/include/keydrome/index.h",
    "extensions.h": "api/include/keydrome/extensions.h",
    "structure.h": "api/include/keydrome/structure.h",
    "structure_class.h": "api/include/keydrome/structure_class.h",
}
EXAMPLES = {"minimal.c": "api/examples/minimal.c", "minimal.cc": "api/examples/minimal.cc"}
DOCUMENTS = {
    "first-submission.md": "docs/tutorial/first-submission.md",
    "index-api.md": "docs/reference/index-api.md",
    "structure-api.md": "docs/reference/structure-api.md",
    "commands.md": "docs/reference/commands.md",
    "correctness.md": "docs/explanation/correctness.md",
    "measuring.md": "docs/explanation/measuring.md",
}
FILES = {**HEADERS, **EXAMPLES, **DOCUMENTS}
# Files that only the archive contains: examples that consist of a folder, and the page that explains them.
ARCHIVED = (
    "api/examples/go/go.mod",
    "api/examples/go/mine.go",
    "api/examples/rust/Cargo.toml",
    "api/examples/rust/src/lib.rs",
    "docs/how-to/use-another-language.md",
)


@dataclass(frozen=True, slots=True)
class Download:
    """A file to download, and its size in bytes."""

    name: str
    size: int


@cache
def _content(name: str) -> bytes:
    """Return the content of a file or of the archive."""
    if name == KIT:
        return _archive()
    path: Path = settings.BASE_DIR / FILES[name]
    return path.read_bytes()


def _archive() -> bytes:
    """Return all files as an archive. It has no times and owners, so that all server processes send the same bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in sorted((*FILES.values(), *ARCHIVED)):
            content = (settings.BASE_DIR / path).read_bytes()
            member = tarfile.TarInfo(f"kit/{path.removeprefix('api/')}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), compresslevel=9, mtime=0)


def listed(names: tuple[str, ...]) -> list[Download]:
    """Return these files with their sizes."""
    return [Download(name, len(_content(name))) for name in names]


@require_safe
def download(request: HttpRequest, name: str) -> HttpResponse:
    """Send a file as an attachment. Responds 404 if the name is not listed above."""
    if name not in FILES and name != KIT:
        raise Http404
    kind = "application/gzip" if name == KIT else "text/plain; charset=utf-8"
    response = HttpResponse(_content(name), content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
