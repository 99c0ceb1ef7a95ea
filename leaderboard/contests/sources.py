"""Accepts the source code of entries for a contest's finals. Only the entry's owner and the jury may read it.

The archive is stored as it is, and the site never unpacks it. The site checks only the size and the first bytes, so
that a contestant who hands in a wrong file learns this at once.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from leaderboard.contests.models import Phase, Source
from leaderboard.services import Refused
from runner.text import display_name

if TYPE_CHECKING:
    from django.core.files import File

    from leaderboard.contests.models import Entry
    from leaderboard.viewer import Viewer

# The first bytes of the accepted archives, and the ending of a downloaded file.
ARCHIVES = {
    b"PK\x03\x04": "zip",
    b"\x1f\x8b": "tar.gz",
    b"\xfd7zXZ\x00": "tar.xz",
    b"\x28\xb5\x2f\xfd": "tar.zst",
}
_FIRST_BYTES = max(map(len, ARCHIVES))


def may_hand_in(entry: Entry, viewer: Viewer) -> bool:
    """Return True if the viewer owns the submission of the entry."""
    return viewer.is_authenticated and viewer.pk == entry.submission.owner_id


def reason_against(entry: Entry) -> str:
    """Return why no source can be handed in for the entry now; an empty text if it can."""
    contest = entry.contest
    if not contest.wants_source:
        return "this contest does not ask for source code"
    if contest.phase is Phase.CLOSED:
        return "the contest is closed, so it accepts no more source code"
    if entry.submission.deleted_at is not None:
        return "the submission was deleted, so it needs no source code"
    if entry.disqualified_at is not None:
        return "the entry is disqualified, so it needs no source code"
    return ""


def hand_in(entry: Entry, file: File[bytes], file_name: str) -> Source:
    """Store an archive as the source of the entry, in place of an earlier one. Raises Refused."""
    if reason := reason_against(entry):
        raise Refused([reason])
    limit = settings.KEYDROME_SOURCE_BYTES
    if file.size > limit:
        raise Refused(
            [
                f"the archive has {file.size:,} bytes, and the limit is {limit:,} bytes: leave out compiled files"
            ]
        )
    ending = _ending(file)
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    file.seek(0)
    with transaction.atomic():
        earlier = Source.objects.select_for_update().filter(entry=entry).first()
        source = earlier or Source(entry=entry)
        old = (source.file.storage, str(source.file.name)) if earlier else None
        source.file_name = display_name(file_name)
        source.sha256 = digest.hexdigest()
        source.size_bytes = file.size
        source.handed_in_at = timezone.now()
        # The name in the storage is random, so it reveals nothing about the entry, and does not depend on the user.
        source.file.save(
            f"sources/{entry.contest_id}/{secrets.token_hex(16)}.{ending}", file, save=False
        )
        source.save()
        if old is not None:
            transaction.on_commit(lambda: old[0].delete(old[1]))
    return source


def _ending(file: File[bytes]) -> str:
    """Return the usual ending of this kind of archive. Raises Refused if it is none of ARCHIVES."""
    first = file.read(_FIRST_BYTES)
    file.seek(0)
    for begin, ending in ARCHIVES.items():
        if first.startswith(begin):
            return ending
    kinds = ", ".join(f".{ending}" for ending in ARCHIVES.values())
    raise Refused(
        [f"this file is not an archive of a known kind: hand in one of these kinds: {kinds}"]
    )
