"""Tests what the worker stores during a run with its heartbeats: the progress in words, and the throughput curve.

The end of the run removes the curve.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from leaderboard import services
from leaderboard.live_curve import WINDOWS_MAX, LiveCurve, live_json
from leaderboard.models import Run
from leaderboard.queue import claims
from leaderboard.queue.claims import Slot
from leaderboard.tests.conftest import enter
from leaderboard.tests.reports import make_report
from leaderboard.worker import _Heartbeats, describe
from runner.contract import Progress, SessionCurves
from runner.report import Throughput

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from leaderboard.models import Machine

CURVE = Throughput("test", 1_000, (10, 20, 30))


def curves(session: int) -> SessionCurves:
    return SessionCurves(session, CURVE, None)


def running(owner: User, machine: Machine) -> Run:
    enter(owner)
    run = claims.claim(Slot(machine, 0))
    assert run is not None
    return run


def stored(run: Run) -> Any:
    return Run.objects.values_list("live", flat=True).get(pk=run.pk)


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (Progress(0, 3, "inspection", "", 0.0), "inspecting the library"),
        (
            Progress(2, 3, "control, audit", "test", 0.6),
            "session 2 of 3, played again for an audit: control library, phase test",
        ),
        (
            Progress(3, 3, "control again", "test", 0.9),
            "session 3 of 3: control library for the second time, phase test",
        ),
        (
            Progress(4, 4, "candidate", "test", 1.0),
            "session 4, which replaces a session that was too noisy to count: candidate library, phase test",
        ),
    ],
)
def test_the_progress_in_words(progress: Progress, text: str) -> None:
    assert describe(progress) == text


def test_long_curves_are_shortened_without_a_dip_at_the_end() -> None:
    steady = Throughput("test", 1_000, (7,) * 1_001)
    found = LiveCurve.from_json(live_json(SessionCurves(3, steady, CURVE)))
    assert found.session == 3
    assert found.candidate.window_ns == 17_000
    assert set(found.candidate.committed) == {7 * 17}
    assert len(found.candidate.committed) <= WINDOWS_MAX
    assert found.control == CURVE


def test_an_empty_curve_stays_empty() -> None:
    empty = Throughput("test", 1_000, ())
    assert LiveCurve.from_json(live_json(SessionCurves(1, empty, None))).candidate == empty


@pytest.mark.django_db
def test_a_heartbeat_without_curves_keeps_them(alice: User, machine: Machine) -> None:
    run = running(alice, machine)
    claims.heartbeat(run.pk, run.attempt, 0.3, "", live_json(curves(1)))
    claims.heartbeat(run.pk, run.attempt, 0.4, "")
    assert stored(run) == live_json(curves(1))
    claims.heartbeat(run.pk, run.attempt, 0.5, "", live_json(curves(2)))
    assert stored(run)["session"] == 2


@pytest.mark.django_db
@pytest.mark.parametrize("how", ["record", "give_up", "requeue", "cancel"])
def test_the_end_of_a_run_removes_them(alice: User, machine: Machine, how: str) -> None:
    run = running(alice, machine)
    claims.heartbeat(run.pk, run.attempt, 0.3, "", live_json(curves(1)))
    ends = {
        "record": lambda: services.record(make_report(run)),
        "give_up": lambda: services.give_up(run.pk, run.attempt, "why"),
        "requeue": lambda: claims.requeue(run.pk, run.attempt),
        "cancel": lambda: claims.finish_cancelled(run.pk, run.attempt),
    }
    assert ends[how]()
    assert stored(run) is None


@pytest.mark.django_db
def test_the_worker_sends_each_curve_once(
    alice: User, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = running(alice, machine)
    sent: list[int | None] = []
    real = claims.heartbeat

    def note(*arguments: Any) -> claims.Heartbeat:
        sent.append(arguments[4] and arguments[4]["session"])
        return real(*arguments)

    monkeypatch.setattr(claims, "heartbeat", note)
    beat = _Heartbeats(run.pk, run.attempt, threading.Event(), heartbeat_seconds=0.0)
    first, second = curves(1), curves(2)
    for found in (None, first, first, second):
        assert beat(Progress(1, 3, "candidate", "test", 0.5, found))
    assert sent == [None, 1, None, 2]
