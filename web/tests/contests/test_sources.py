"""Tests the hand-in of source code: what is accepted, until when, and that only its owner and the jury can read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse

from leaderboard import services
from leaderboard.contests import organising
from leaderboard.contests.models import Contest, Source
from web.tests.contests.cups import move
from web.tests.world import content_of

if TYPE_CHECKING:
    from pytest_django import DjangoCaptureOnCommitCallbacks
    from pytest_django.fixtures import Settings

    from leaderboard.contests.models import Entry
    from web.tests.contests.cups import Cup

pytestmark = pytest.mark.django_db

ZIP = b"PK\x03\x04 the rest of the archive"


@pytest.fixture
def entry(cup: Cup) -> Entry:
    Contest.objects.update(wants_source=True)
    return cup.enter()


def page(entry: Entry) -> str:
    return f"/contests/cup/entries/{entry.pk}/source/"


def hand_in(
    cup: Cup, entry: Entry, content: bytes = ZIP, name: str = "mine.zip", who: str = "contestant"
) -> HttpResponse:
    answer = cup.browser(who).post(page(entry), {"file": SimpleUploadedFile(name, content)})
    assert isinstance(answer, HttpResponse)
    return answer


def test_owner_and_jury_download_the_source_and_others_do_not_see_it(
    cup: Cup, entry: Entry
) -> None:
    assert hand_in(cup, entry, name="<b>../mine.zip").status_code == 302
    for who in ("anonymous", "stranger", "mate", "observer"):
        assert cup.browser(who).get(f"{page(entry)}file").status_code in {302, 404}, who
    for who in ("contestant", "jury", "organiser", "owner", "staff"):
        answer = cup.browser(who).get(f"{page(entry)}file")
        assert content_of(answer) == ZIP, who
        name = f"source-{entry.submission_id}.zip"
        assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
        assert answer["Content-Type"] == "application/octet-stream"
    official = f"/contests/cup/organise/entries/{entry.pk}/"
    assert "source/file" in cup.browser("jury").get(official).content.decode()
    seen = cup.browser("observer").get(official).content.decode()
    assert "source/file" not in seen
    assert "Only the jury can download it." in seen
    assert "<b>../mine" not in cup.browser("jury").get(official).content.decode()


def test_only_the_owner_hands_in(cup: Cup, entry: Entry) -> None:
    for who in ("stranger", "mate", "observer", "jury", "owner", "staff"):
        assert hand_in(cup, entry, who=who).status_code == 404, who
    assert not Source.objects.exists()
    team = "/contests/cup/team/"
    assert page(entry) in cup.browser("contestant").get(team).content.decode()
    assert page(entry) not in cup.browser("mate").get(team).content.decode()


def test_a_newer_archive_replaces_the_older_one(
    cup: Cup, entry: Entry, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    hand_in(cup, entry)
    first = Source.objects.get()
    with django_capture_on_commit_callbacks(execute=True):
        hand_in(cup, entry, ZIP + b"2", name="second.tgz")
    second = Source.objects.get()
    assert (second.pk, second.file_name, second.size_bytes) == (
        first.pk,
        "second.tgz",
        len(ZIP) + 1,
    )
    assert second.sha256 != first.sha256
    assert not default_storage.exists(str(first.file.name))
    assert content_of(cup.browser("jury").get(f"{page(entry)}file")) == ZIP + b"2"


@pytest.mark.parametrize("content", [b"int main(void) {}", b"\x7fELF", b"P"])
def test_a_file_that_is_not_an_archive_is_refused(cup: Cup, entry: Entry, content: bytes) -> None:
    answer = hand_in(cup, entry, content, name="mine.zip")
    assert "not an archive of a known kind" in answer.content.decode()
    assert not Source.objects.exists()


@pytest.mark.parametrize(("limit", "upload_limit"), [(10, 1000), (1000, 10)])
def test_a_large_archive_is_refused(
    cup: Cup, entry: Entry, settings: Settings, limit: int, upload_limit: int
) -> None:
    settings.KEYDROME_SOURCE_BYTES = limit
    settings.KEYDROME_UPLOAD_BYTES = upload_limit
    answer = hand_in(cup, entry)
    assert answer.status_code == (413 if upload_limit == 10 else 200)
    text = answer.content.decode()
    assert "the limit is 10" in text or "larger than" in text
    assert not Source.objects.exists()


def test_source_is_taken_until_the_results(cup: Cup, entry: Entry) -> None:
    move(cup.contest, freezes_at=-1, closes_at=-1)  # the finals
    assert hand_in(cup, entry).status_code == 302
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    assert "the contest is closed" in hand_in(cup, entry, ZIP + b"late").content.decode()
    assert Source.objects.get().size_bytes == len(ZIP)


def test_source_is_refused_if_the_entry_is_out_or_the_contest_does_not_ask(
    cup: Cup, entry: Entry
) -> None:
    organising.disqualify(entry, "it read the clock", by=cup.officials["jury"])
    assert "the entry is disqualified" in hand_in(cup, entry).content.decode()
    other = cup.enter(tag=b"2")
    services.withdraw(other.submission, by=cup.world.alice)
    assert "the submission was deleted" in hand_in(cup, other).content.decode()
    Contest.objects.update(wants_source=False)
    third = cup.enter(tag=b"3")
    assert "does not ask for source code" in hand_in(cup, third).content.decode()
    assert page(third) not in cup.browser("contestant").get("/contests/cup/team/").content.decode()
    assert not Source.objects.exists()
