"""Tests several processes on one database: they never claim the same run, and a killed worker's run is queued again."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from leaderboard import services
from leaderboard.models import Artefact, Machine, Run, RunDetail, State
from leaderboard.queue import claims, wakeup
from leaderboard.queue.claims import Slot
from leaderboard.tests import processes
from leaderboard.tests.conftest import REPOSITORY, Track, enter
from leaderboard.tests.reports import make_report
from leaderboard.tests.test_record import timed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
DEADLINE_SECONDS = 240


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    """A list of processes. The fixture ends these processes after the test."""
    found: list[subprocess.Popen[str]] = []
    yield found
    for process in found:
        process.kill()
        process.communicate()


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen in {DEADLINE_SECONDS} s"
        time.sleep(0.05)


def test_no_run_is_claimed_twice(
    alice: User, own_var: Path, started: list[subprocess.Popen[str]]
) -> None:
    for number in range(10):
        enter(alice, number)
    waiting = set(Run.objects.values_list("pk", flat=True))
    started.extend(processes.start(processes.CLAIM, slot, own_var) for slot in range(3))
    outputs = [process.communicate(timeout=DEADLINE_SECONDS)[0] for process in started]
    assert [process.returncode for process in started] == [0] * 3
    claimed = [int(line) for output in outputs for line in output.split()]
    assert sorted(claimed) == sorted(waiting)
    assert set(Run.objects.values_list("attempt", flat=True)) == {1}


def test_a_worker_killed_in_mid_run_costs_an_attempt_and_nothing_else(
    alice: User, machine: Machine, own_var: Path, started: list[subprocess.Popen[str]]
) -> None:
    enter(alice)
    process = processes.start(processes.HANG, 0, own_var)
    started.append(process)
    assert process.stdout is not None
    run_id = int(process.stdout.readline())
    dead = Run.objects.get(pk=run_id)
    assert (dead.state, dead.attempt, dead.progress) == (State.RUNNING, 1, 0.5)
    process.kill()
    assert process.wait(DEADLINE_SECONDS) == -9

    assert services.recover_and_wake().requeued == ()
    Run.objects.filter(pk=run_id).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert services.recover_and_wake().requeued == (run_id,)
    Run.objects.filter(pk=run_id).update(not_before=None)
    again = claims.claim(Slot(machine, 0))
    assert again is not None
    assert (again.pk, again.attempt) == (run_id, 2)
    assert not services.record(make_report(dead))
    assert services.record(make_report(again))
    assert not services.record(make_report(again))
    assert RunDetail.objects.filter(pk=run_id).count() == 1


def test_the_results_worker_begins_at_once_and_then_receives_wake_ups(
    alice: User, track: Track, own_broker: Path, started: list[subprocess.Popen[str]]
) -> None:
    """A real results worker with a real broker draws the plots of a finished run and queues a lost run again.

    The results worker is a background process of the site. A run is lost if the process that executes it has died.
    """
    run = timed(enter(alice))
    track.finish(run)
    command = [sys.executable, "-m", "celery", "-A", "web.celery", "worker", "-Q", "results"]
    options = ["-P", "solo", "--without-gossip", "--without-mingle", "--without-heartbeat"]
    started.append(
        subprocess.Popen(
            [*command, *options],
            cwd=REPOSITORY,
            env=processes.environment(own_broker),
            stdout=subprocess.DEVNULL,
            text=True,
        )
    )
    wait_until(lambda: Artefact.objects.filter(run=run, name="latency.svg").exists(), "drawing")
    lost = claims.claim(Slot(track.machine, 0))
    assert lost is not None
    Run.objects.filter(pk=lost.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    wakeup.wake(wakeup.RESULTS)
    wait_until(lambda: Run.objects.get(pk=lost.pk).state == State.QUEUED, "the results worker")
    (own_broker / "artefacts" / "runs" / str(run.pk) / "latency.svg").read_text().index("<svg")
