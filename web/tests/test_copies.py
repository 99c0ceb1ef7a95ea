"""Tests of the copies of public pages: who receives a copy, and for how long (web/copies.py)."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import time_machine
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.test import Client
from django.utils import timezone

from leaderboard.models import Announcement
from web import copies
from web.copies import CACHE, copied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_django.fixtures import Settings

    from web.tests.world import World

pytestmark = pytest.mark.django_db
HOME = "/"


@pytest.fixture(autouse=True)
def _five_seconds(settings: Settings) -> None:
    settings.KEYDROME_COPY_SECONDS = 5
    caches[CACHE].clear()


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A clock that stands still until a test moves it."""
    with time_machine.travel("2026-11-29 12:00:00", tick=False) as traveller:
        yield traveller


def announce(title: str) -> None:
    Announcement.objects.create(title=title, body="text", published_at=timezone.now())


def sees(client: Client, title: str) -> bool:
    return title in client.get(HOME).text


def test_strangers_share_a_page_for_five_seconds(clock: time_machine.Traveller) -> None:
    assert not sees(Client(), "Finals")
    announce("Finals")
    clock.shift(4)
    assert not sees(Client(), "Finals")
    clock.shift(2)
    assert sees(Client(), "Finals")


def test_a_user_and_a_visitor_with_any_cookie_receive_no_copies(alice: Client) -> None:
    sees(Client(), "Finals")
    announce("Finals")
    assert sees(alice, "Finals")
    guest = Client()
    guest.cookies["csrftoken"] = "x" * 32
    assert sees(guest, "Finals")
    assert not sees(Client(), "Finals")


def test_the_page_of_a_user_is_never_copied(alice: Client, world: World) -> None:
    assert world.alice.username in alice.get(HOME).text
    assert world.alice.username not in Client().get(HOME).text


def test_another_host_and_another_query_have_other_copies() -> None:
    sees(Client(), "Finals")
    announce("Finals")
    assert sees(Client(headers={"host": "localhost"}), "Finals")
    assert "Finals" in Client().get(HOME, {"page": 1}).text


def test_one_request_renders_a_page_and_the_others_receive_a_copy(
    clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_WAIT_SECONDS", 60)
    request = Client().get("/boards/none/").wsgi_request
    began, may_end = threading.Event(), threading.Event()
    rendered: list[int] = []

    @copied
    def slow(_request: HttpRequest) -> HttpResponse:
        rendered.append(len(rendered))
        began.set()
        assert may_end.wait(60)
        return HttpResponse(f"page {rendered[-1]}")

    def get() -> str:
        return slow(request).text

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(get)
        assert began.wait(60)
        second = threads.submit(get)  # there is no copy, so it waits for the first one
        may_end.set()
        assert (first.result(), second.result()) == ("page 0", "page 0")
        clock.shift(6)
        began.clear()
        may_end.clear()
        first = threads.submit(get)
        assert began.wait(60)
        assert get() == "page 0"
        may_end.set()
        assert first.result() == "page 1"
    assert get() == "page 1"
    clock.shift(11)
    assert get() == "page 2"


def form(request: HttpRequest) -> HttpResponse:
    return HttpResponse(get_token(request))


def session(request: HttpRequest) -> HttpResponse:
    request.session["own"] = True
    return HttpResponse("own")


def own_cookie(_request: HttpRequest) -> HttpResponse:
    response = HttpResponse("own")
    response.set_cookie("own", "1")
    return response


def missing(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("missing", status=404)


def plain_text(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("text", content_type="text/plain")


def private(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("private", headers={"Cache-Control": "private"})


def page(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("page")


@pytest.mark.parametrize(
    ("view", "renders"),
    [
        (form, 2),
        (session, 2),
        (own_cookie, 2),
        (missing, 2),
        (plain_text, 2),
        (private, 2),
        (page, 1),
    ],
)
def test_only_pages_that_are_the_same_for_all_are_copied(
    view: Callable[[HttpRequest], HttpResponse], renders: int
) -> None:
    calls = []

    @copied
    def counted(request: HttpRequest) -> HttpResponse:
        calls.append(request)
        return view(request)

    for _ in range(2):
        # The page of the board "none" does not exist, so the request itself leaves no copy.
        request = Client().get("/boards/none/").wsgi_request
        counted(request)
    assert len(calls) == renders
