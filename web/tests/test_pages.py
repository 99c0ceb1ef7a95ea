"""Tests the pages that everyone may see: front page, how it works, news, status, rankings with exports, error pages."""

from __future__ import annotations

import csv
import io
import logging
import re
import subprocess
import tarfile
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.utils import timezone

from leaderboard.catalogue import Target
from leaderboard.models import Announcement, Machine, Run
from web import jinja
from web.logs import HostNameAdvice
from web.pages import downloads
from web.tests.world import BOARD, WINDOWS, World, claim, finish_all, run_of

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_django import DjangoAssertNumQueries

pytestmark = pytest.mark.django_db

PUBLIC = [
    "/",
    "/about/",
    "/news/",
    "/status/",
    "/boards/",
    "/boards/preliminary1/",
    "/boards/preliminary2/",
]


@pytest.mark.parametrize("path", PUBLIC)
def test_public_pages_answer_without_any_data(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert "<h1>" in answer.content.decode()


def test_public_pages_are_compressed_and_sent_once(client: Client) -> None:
    answer = client.get("/about/", headers={"Accept-Encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"
    assert "no-store" not in answer.get("Cache-Control", "")
    board = client.get("/boards/preliminary1.json")
    again = client.get("/boards/preliminary1.json", headers={"If-None-Match": board["ETag"]})
    assert again.status_code == 304


def test_no_cache_keeps_what_a_user_sees(alice: Client, world: World) -> None:
    for path in ("/submissions/", "/account/", f"/runs/{run_of(world.submit()).pk}/", "/"):
        assert "no-store" in alice.get(path)["Cache-Control"], path


@pytest.mark.parametrize("path", [*PUBLIC, "/account/login/", "/no/such/page/"])
def test_pages_allow_no_inline_script_or_style(client: Client, path: str) -> None:
    answer = client.get(path)
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "camera=()" in answer["Permissions-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    page = answer.content.decode()
    assert " style=" not in page
    assert "<style" not in page
    assert " onclick" not in page
    assert "javascript:" not in page


def test_a_board_row_has_the_columns_and_links_to_its_run(client: Client, world: World) -> None:
    submission = world.submit(description="prefix tree")
    finish_all()
    run = run_of(submission)
    page = client.get("/boards/preliminary1/").content.decode()
    assert f'href="/runs/{run.pk}/"' in page
    assert "prefix tree" in page
    assert "alice" in page
    assert "41.0" in page  # the median time
    assert "provisional" in page
    assert submission.blob_sha256[:12] in page
    assert submission.blob_sha256 in client.get(f"/runs/{run.pk}/").content.decode()


def test_a_board_shows_the_metric_by_which_it_ranks(
    client: Client, world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    world.submit(targets=(BOARD, Target("open_loop", "int64_a")))
    finish_all()
    with django_assert_num_queries(2):
        page = client.get("/boards/open_loop/").content.decode()
    assert page.count("Sustained arrival rate (1/s)") == 2  # the heading, and the label of the cell
    assert "sustained arrival rate divided by the control" in page
    assert "1,219,512" in page  # 5e7 / 41
    assert "Time (ms)" not in page
    (row,) = client.get("/boards/open_loop.json").json()["rows"]
    assert row["result"] == 5e7 / 41
    page = client.get("/boards/preliminary1/").content.decode()
    assert "Time (ms)" in page
    assert "time divided by the control" in page


def test_csv_and_json_have_the_rows_of_the_board(client: Client, world: World) -> None:
    submission = world.submit(description='=HYPERLINK("x")')
    finish_all()
    answer = client.get("/boards/preliminary1.json").json()
    assert answer["board"] == "preliminary1"
    (row,) = answer["rows"]
    assert row["digest"] == submission.blob_sha256
    assert row["run"] == f"/runs/{run_of(submission).pk}/"
    assert (row["rank_low"], row["rank_high"]) == (1, 1)
    (line,) = csv.DictReader(io.StringIO(client.get("/boards/preliminary1.csv").content.decode()))
    assert set(line) == set(row)
    assert line["total_ms"] == str(row["total_ms"])
    # The description looks like a formula, so an apostrophe must protect spreadsheets from it.
    assert line["description"] == '\'=HYPERLINK("x")'


def test_the_same_number_of_statements_for_one_row_and_for_four(
    client: Client, world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(4):
        world.submit(
            [world.alice, world.bob, world.olga][number % 3],
            content=world.library + bytes([number]),
        )
    finish_all()
    assert len(client.get("/boards/preliminary1.json").json()["rows"]) == 4
    with django_assert_num_queries(2):
        client.get("/boards/preliminary1/")
    with django_assert_num_queries(4):
        client.get("/boards/preliminary1/", {"machine": "no such class"})
        client.get("/boards/preliminary1.csv")


def test_home_shows_the_best_and_the_news(
    client: Client, world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    world.submit()
    finish_all()
    Announcement.objects.create(
        title="New unit tests", body="Now **stricter**.", published_at=timezone.now()
    )
    with django_assert_max_num_queries(7):
        page = client.get("/").content.decode()
    assert "New unit tests" in page
    assert "<strong>stricter</strong>" in page
    assert page.count("<b>mine</b> · whole library") == 2  # who leads, and the recent runs
    assert "Speed and its interval as a plot" in page  # the table has speeds, not ratios
    assert 'href="/docs/tutorial/first-submission.html"' in page


def test_files_are_those_of_the_repository(client: Client) -> None:
    root = settings.BASE_DIR
    answer = client.get("/files/index.h")
    assert answer.content == (root / "api/include/keydrome/index.h").read_bytes()
    assert answer["Content-Disposition"] == 'attachment; filename="index.h"'
    assert client.get("/files/nothing.h").status_code == 404
    home = client.get("/").content.decode()
    for name in (*downloads.FILES, downloads.KIT):
        assert f'href="/files/{name}"' in home
        assert client.get(f"/files/{name}").status_code == 200, name
    assert "curl -LO http://testserver/files/kit.tar.gz" in home


def test_the_build_command_of_the_front_page_works_on_the_kit(
    client: Client, tmp_path: Path
) -> None:
    kit = client.get("/files/kit.tar.gz").content
    assert kit[4:8] == bytes(4)  # the time, which would differ between the server's processes
    with tarfile.open(fileobj=io.BytesIO(kit)) as archive:
        archive.extractall(tmp_path, filter="data")
    home = client.get("/").content.decode()
    found = re.search(r"<code>(gcc .*)</code>", home)
    assert found is not None
    subprocess.run(found[1].split(), cwd=tmp_path, check=True)
    assert (tmp_path / "minimal.so").read_bytes().startswith(b"\x7fELF")
    for path in downloads.ARCHIVED:
        copied = tmp_path / "kit" / path.removeprefix("api/")
        assert copied.read_bytes() == (settings.BASE_DIR / path).read_bytes()


def test_announcements_are_cleaned_and_drafts_are_hidden(client: Client) -> None:
    now = timezone.now()
    body = "<script>alert(1)</script> [x](javascript:alert(1)) <b onclick=x>y</b> [good](https://a.org)"
    Announcement.objects.create(title="Out <i>now</i>", body=body, published_at=now)
    Announcement.objects.create(title="Draft", body="secret", published_at=None)
    Announcement.objects.create(title="Later", body="x", published_at=now + timedelta(days=1))
    page = client.get("/news/").content.decode()
    assert "Out &lt;i&gt;now&lt;/i&gt;" in page
    assert "<script>alert" not in page
    assert "<b " not in page
    assert 'href="javascript' not in page
    assert '<a href="https://a.org" rel="noopener nofollow">good</a>' in page
    assert "Draft" not in page
    assert "Later" not in page


def test_status_says_when_no_machine_executes_the_queue(client: Client, world: World) -> None:
    assert "The queue is working" in client.get("/status/").content.decode()
    world.submit()
    assert "The queue is working" in client.get("/status/").content.decode()
    Run.objects.update(created_at=timezone.now() - timedelta(seconds=61))
    page = client.get("/status/").content.decode()
    assert "No machine is taking runs from the queue" in page
    assert "notice-error" in page
    said = "The queue is now: stalled"
    assert said in client.get("/status/state/", {"seen": "working"}).content.decode()
    assert said not in client.get("/status/state/", {"seen": "stalled"}).content.decode()


def test_last_seen_follows_the_heartbeats_of_a_long_run(client: Client, world: World) -> None:
    world.submit()
    run = claim()
    Machine.objects.update(last_seen=None, last_busy=None)
    now = timezone.now().replace(microsecond=0)
    for path in ("/status/", f"/machines/{run.machine_id}/"):
        part = path + ("state/" if "status" in path else "last-seen/")
        assert f'hx-get="{part}' in client.get(path).content.decode()
        for later in (0, 2):
            beat = now + timedelta(seconds=later)
            Run.objects.filter(pk=run.pk).update(heartbeat_at=beat)
            assert jinja.timestamp(beat) in client.get(path).content.decode()
            found = client.get(part)
            assert jinja.timestamp(beat) in found.content.decode()
            again = client.get(part, HTTP_IF_NONE_MATCH=found["ETag"])
            assert again.status_code == 304


@pytest.mark.parametrize("path", ["/boards/none/", "/runs/1/", "/nowhere/"])
def test_what_does_not_exist_is_404_in_house_style(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "Page not found" in answer.content.decode()


def test_a_request_far_too_large_is_refused_unread(client: Client) -> None:
    answer = client.post("/submit/", b"", content_type="text/plain", CONTENT_LENGTH="999999999999")
    assert answer.status_code == 413
    assert "64.0" in answer.content.decode()


@pytest.mark.parametrize("size", ["-1", "ten", "\N{SUPERSCRIPT TWO}"])
def test_a_request_whose_size_is_not_a_number_is_refused_unread(client: Client, size: str) -> None:
    answer = client.post("/submit/", b"", content_type="text/plain", CONTENT_LENGTH=size)
    assert answer.status_code == 400
    assert "Content-Length" in answer.content.decode()


def test_a_request_for_an_unknown_host_is_400_with_advice(client: Client) -> None:
    answer = client.get("/", HTTP_HOST="other.example")
    assert answer.status_code == 400
    assert "KEYDROME_HOSTS lists the host names" in answer.content.decode()


def test_the_log_names_the_variable_for_host_names() -> None:
    advice = (
        "Invalid HTTP_HOST header: 'a.example'. You may need to add 'a.example' to ALLOWED_HOSTS."
    )
    for name, expected in (
        ("django.security.DisallowedHost", "add it to the environment variable KEYDROME_HOSTS"),
        ("another.logger", "to ALLOWED_HOSTS."),
    ):
        record = logging.LogRecord(name, logging.ERROR, "", 0, advice, (), None)
        assert HostNameAdvice().filter(record)
        assert expected in record.getMessage()


def test_a_size_of_thousands_of_digits_is_too_large(client: Client) -> None:
    answer = client.post("/submit/", b"", content_type="text/plain", CONTENT_LENGTH="9" * 5000)
    assert answer.status_code == 413


def test_an_expired_form_is_403_with_advice(world: World) -> None:
    answer = Client(enforce_csrf_checks=True).post("/account/login/", {"login": "alice"})
    assert answer.status_code == 403
    assert "The form has expired" in answer.content.decode()


def test_a_fault_of_ours_is_500_in_house_style(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("leaderboard.queries.system_status", broken)
    client.raise_request_exception = False
    answer = client.get("/status/")
    assert answer.status_code == 500
    assert "Internal error" in answer.content.decode()


def test_what_is_forbidden_is_403_in_house_style(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object) -> None:
        raise PermissionDenied

    monkeypatch.setattr("leaderboard.queries.system_status", forbidden)
    answer = client.get("/status/")
    assert answer.status_code == 403
    assert "Access denied" in answer.content.decode()


def test_a_run_page_has_the_curves_as_tables_too(client: Client, world: World) -> None:
    submission = world.submit()
    finish_all()
    page = client.get(f"/runs/{run_of(submission).pk}/").content.decode()
    curve = page[page.index('aria-label="Throughput of this library and control library') :]
    # A table has at most 40 rows, so each row has two windows.
    assert curve[: curve.index("</table>")].count("<tr>") == WINDOWS / 2 + 1
    assert BOARD.instance in page
