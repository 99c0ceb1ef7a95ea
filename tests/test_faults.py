"""Tests of the real runner when its processes are killed, the disk is full, or the run is cancelled."""

from __future__ import annotations

import subprocess
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest
from django.db import connection

from leaderboard import services
from leaderboard.catalogue import Target
from leaderboard.machines import registry
from leaderboard.models import Run, State, Submission
from leaderboard.queue import claims
from leaderboard.queue.claims import Slot
from leaderboard.worker import Worker
from runner.execute import execute
from runner.slots import hold_local_slot
from runner.terms import Verdict
from tests.binaries import built_settings, library
from tests.test_runner import job, leaves_nothing
from tools.process_tree import Process, descendants

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.contract import Progress, RunReport
    from runner.settings import Settings
    from web.tests.world import World

CANCEL_SECONDS = 3.0


@pytest.fixture
def place(own_var: Path) -> Iterator[Settings]:
    """Return settings of this build with a data folder of their own and a free slot: the number of the jail's user."""
    with hold_local_slot() as slot:
        yield replace(built_settings(), var=own_var, slot=slot)


def killing(name: str, place: Settings) -> RunReport:
    """Execute a library that hangs, kill one process of its session with SIGKILL, and return the report."""
    killed: list[Process] = []

    def beat(progress: Progress) -> bool:
        if progress.role == "candidate" and progress.phase == "create" and not killed:
            for process in descendants():
                if process.name == name:
                    process.kill()
                    killed.append(process)
        return True

    asked = job(place, library(place, "faulty", "hang_in_create"), seeds=("00000000000000aa",))
    with leaves_nothing(place):
        report = execute(asked, beat, place)
    assert killed, f"no process {name} ran during the phase create, so the test killed none"
    return report


@pytest.mark.parametrize(
    ("name", "verdict", "words"),
    [
        ("referee", Verdict.INFRASTRUCTURE, "Keydrome's referee was killed by signal 9"),
        ("jail", Verdict.INFRASTRUCTURE, ""),
        ("jail-init", Verdict.INFRASTRUCTURE, ""),
        ("player", Verdict.CRASHED, "ended by SIGKILL"),
    ],
)
def test_the_run_has_a_verdict_if_any_process_of_a_session_is_killed(
    name: str, verdict: Verdict, words: str, place: Settings
) -> None:
    """A killed player, the process that calls the library, counts as a fault of the library, which may have killed it.

    If another process is killed, the verdict is `infrastructure`.
    """
    report = killing(name, place)
    assert report.verdict is verdict, report.reason
    assert words in report.reason


@contextmanager
def small_disk(folder: Path, kibibytes: int) -> Iterator[None]:
    """Mount a file system of `kibibytes` KiB on the folder during the block."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k,mode=700", "tmpfs", str(folder)],
        check=True,
    )
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_takes_no_submission_and_leaves_no_trace(world: World, own_var: Path) -> None:
    with small_disk(own_var / "blobs", 16):
        with pytest.raises(services.Refused, match="its storage is full"):
            world.submit(content=world.library + bytes(1 << 20))
        assert [path for path in (own_var / "blobs").rglob("*") if path.is_file()] == []
    assert Submission.objects.count() == 0
    assert world.submit().runs.exists()


@pytest.mark.django_db(transaction=True)
def test_a_full_disk_on_the_machine_is_our_fault_and_the_run_is_tried_again(
    world: World, place: Settings
) -> None:
    world.submit(content=library(place, "indexes", "global_lock").read_bytes())
    Run.objects.exclude(benchmark="unit").update(state="cancelled")
    machine = registry.seen("bench1", "fast", {})
    worker = Worker(Slot(machine, place.slot), partial(execute, settings=place))
    with small_disk(place.work, 16):
        assert worker.run_one()
    run = Run.objects.get(benchmark="unit")
    assert (run.state, run.attempt) == (State.QUEUED, 1)
    Run.objects.update(not_before=None)
    assert worker.run_one()
    run.refresh_from_db()
    assert (run.verdict, run.attempt, run.reason) == ("passed", 2, "")


@pytest.mark.django_db(transaction=True)
def test_a_running_run_is_cancelled_within_three_seconds(
    world: World, place: Settings, embedded_site: None
) -> None:
    submission = world.submit(
        content=library(place, "faulty", "hang_in_create").read_bytes(),
        targets=[Target("sigmod2009", "preliminary1")],
    )
    Run.objects.filter(kind="correctness").update(state="cancelled")
    machine = registry.seen("bench1", "fast", {})
    worker = Worker(Slot(machine, place.slot), partial(execute, settings=place))
    running = threading.Event()
    beat = claims.heartbeat

    def listen(*arguments: object) -> claims.Heartbeat:
        if "create" in str(arguments[3]):
            running.set()
        return beat(*arguments)  # type: ignore[arg-type]

    asked: list[float] = []

    def cancel() -> None:
        try:
            running.wait(60)
            run = submission.runs.select_related("submission").get(kind="performance")
            asked.append(time.monotonic())
            assert services.cancel(run, by=world.alice)
        finally:
            connection.close()

    with pytest.MonkeyPatch.context() as patch, leaves_nothing(place):
        patch.setattr(claims, "heartbeat", listen)
        somebody = threading.Thread(target=cancel)
        somebody.start()
        assert worker.run_one()
        took = time.monotonic() - asked[0]
        somebody.join()
    assert submission.runs.get(kind="performance").state == State.CANCELLED
    assert took < CANCEL_SECONDS
