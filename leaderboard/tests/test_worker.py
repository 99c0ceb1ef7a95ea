"""Tests which runs a worker executes and how they end. A substitute for runner.execute runs no jail (sandbox)."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DataError, InterfaceError, OperationalError
from django.utils import timezone

from leaderboard import services, tasks
from leaderboard.models import Machine, Run, State
from leaderboard.queue import claims, wakeup
from leaderboard.queue.claims import Heartbeat, Slot
from leaderboard.tests.conftest import Repository, enter
from leaderboard.tests.reports import make_report
from leaderboard.tests.test_record import timed
from leaderboard.worker import NotBuiltError, Worker, hold_slot, make_job
from runner.contract import Cancelled, Job, Progress, RunReport
from runner.slots import SlotsTakenError, slots_for_tests
from runner.terms import Verdict

pytestmark = pytest.mark.django_db
PROGRESS = Progress(1, 3, "candidate", "populate", 0.25)


@dataclass
class Scripted:
    """A substitute for runner.execute: reports progress, stops if the heartbeat says so, and returns a report.

    The test chooses the verdict, and a function that is called in the middle of the run.
    """

    verdict: Verdict = Verdict.PASSED
    during: Callable[[Job], None] = lambda _job: None
    jobs: list[Job] = field(default_factory=list)

    def __call__(self, job: Job, beat: Callable[[Progress], bool]) -> RunReport:
        self.jobs.append(job)
        if not beat(PROGRESS):
            raise Cancelled
        self.during(job)
        if not beat(PROGRESS):
            raise Cancelled
        run = Run.objects.get(pk=job.run_id)
        run.attempt = job.attempt
        return make_report(run, verdict=self.verdict, reason="as scripted")


def worker(machine: Machine, execute: Scripted, number: int = 0) -> Worker:
    return Worker(Slot(machine, number), execute, heartbeat_seconds=0.0)


def test_the_queue_is_executed_in_order(alice: User, bob: User, machine: Machine) -> None:
    first, second = enter(alice), enter(bob, 1)
    Run.objects.filter(submission=second).update(priority=-1)
    script = Scripted()
    assert worker(machine, script).drain() == 6
    wanted = [*second.runs.order_by("id"), *first.runs.order_by("id")]
    assert [job.run_id for job in script.jobs] == [run.pk for run in wanted]
    assert set(Run.objects.values_list("state", "verdict", "attempt")) == {("done", "passed", 1)}
    machine.refresh_from_db()
    assert machine.last_busy is not None


def test_a_job_says_all_that_the_runner_needs(alice: User, machine: Machine) -> None:
    enter(alice, configuration="rw")
    run = claims.claim(Slot(machine, 0))
    assert run is not None
    job = make_job(run)
    assert Job.from_json(job.to_json()) == job
    assert (job.run_id, job.attempt, job.configuration) == (run.pk, 1, "rw")
    assert job.seeds == tuple(run.seeds)
    assert job.require_level == "full"
    assert not job.trusted
    assert job.parameters == ()


def test_only_timed_runs_get_a_spot_check(alice: User, machine: Machine, settings: Any) -> None:
    submission, other = enter(alice), enter(alice, 1)
    Run.objects.update(attempt=1)
    assert make_job(timed(submission)).recorded_seed is None
    settings.KEYDROME_RECORD_ONE_IN = 1
    gate = submission.runs.select_related("submission").filter(kind="correctness").first()
    assert gate is not None
    first, second = (make_job(timed(entered)).recorded_seed for entered in (submission, other))
    assert first
    assert second
    assert first != second
    assert make_job(gate).recorded_seed is None


def test_a_lost_attempt_gets_no_second_spot_check(
    alice: User, machine: Machine, settings: Any
) -> None:
    """The next attempt has the same spot check (one more session, with all results checked) and the same seed."""
    submission = enter(alice)
    settings.KEYDROME_RECORD_ONE_IN = 1
    drawn = []
    for attempt in (1, 2):
        Run.objects.update(attempt=attempt)
        drawn.append(make_job(timed(submission)).recorded_seed)
    assert drawn[0] == drawn[1]


def test_a_heartbeat_shows_where_the_run_is(alice: User, machine: Machine) -> None:
    enter(alice)
    seen: list[Any] = []

    def look(job: Job) -> None:
        seen.append(
            Run.objects.values_list("state", "progress", "progress_note").get(pk=job.run_id)
        )

    worker(machine, Scripted(during=look)).run_one()
    assert seen == [("running", 0.25, "session 1 of 3: candidate library, phase populate")]


def test_a_running_run_is_cancelled_at_the_next_heartbeat(
    alice: User, bob: User, machine: Machine
) -> None:
    submission = enter(alice)

    def ask(job: Job) -> None:
        run = Run.objects.select_related("submission").get(pk=job.run_id)
        with pytest.raises(PermissionDenied):
            services.cancel(run, by=bob)
        assert services.cancel(run, by=alice)

    assert worker(machine, Scripted(during=ask)).run_one()
    run = submission.runs.order_by("id")[0]
    assert (run.state, run.verdict) == (State.CANCELLED, "")
    assert run.finished_at is not None
    assert not services.cancel(run, by=alice)


def test_a_waiting_run_is_cancelled_at_once(alice: User, machine: Machine) -> None:
    submission = enter(alice)
    run = timed(submission)
    assert services.cancel(run, by=alice)
    script = Scripted()
    assert worker(machine, script).drain() == 2
    assert run.pk not in {job.run_id for job in script.jobs}


def test_a_worker_that_lost_its_lease_discards_its_result(alice: User, machine: Machine) -> None:
    enter(alice)

    def lose(job: Job) -> None:
        Run.objects.filter(pk=job.run_id).update(lease_until=timezone.now() - timedelta(seconds=1))
        assert services.recover_and_wake().requeued == (job.run_id,)

    script = Scripted(during=lose)
    assert worker(machine, script).run_one()
    run = Run.objects.get(pk=script.jobs[0].run_id)
    assert (run.state, run.attempt) == (State.QUEUED, 1)
    assert run.not_before is not None
    assert run.not_before > timezone.now()


def test_a_run_is_given_up_after_three_attempts_and_says_why(alice: User, machine: Machine) -> None:
    enter(alice)
    run = Run.objects.order_by("id")[0]
    for attempt in (1, 2, 3):
        Run.objects.filter(pk=run.pk).update(not_before=None)
        claimed = claims.claim(Slot(machine, 0))
        assert claimed is not None
        assert (claimed.pk, claimed.attempt) == (run.pk, attempt)
        Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        swept = services.recover_and_wake()
        assert (swept.requeued, swept.given_up) == (
            ((run.pk,), ()) if attempt < 3 else ((), (run.pk,))
        )
    run.refresh_from_db()
    assert (run.state, run.verdict) == (State.DONE, "infrastructure")
    assert "bench1, slot 0, stopped responding" in run.reason
    assert "attempt 3 of 3" in run.reason
    assert services.recover_and_wake() == services.Recovered((), (), ())


def test_a_cancelled_run_whose_worker_died_is_not_tried_again(
    alice: User, machine: Machine
) -> None:
    enter(alice)
    run = claims.claim(Slot(machine, 0))
    assert run is not None
    services.cancel(run, by=alice)
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert services.recover_and_wake().cancelled == (run.pk,)


def test_a_failure_of_the_machine_is_tried_again_and_then_reported(
    alice: User, machine: Machine
) -> None:
    enter(alice)
    run = Run.objects.order_by("id")[0]
    script = Scripted(verdict=Verdict.INFRASTRUCTURE)
    for _ in range(3):
        Run.objects.exclude(pk=run.pk).update(not_before=timezone.now() + timedelta(hours=1))
        Run.objects.filter(pk=run.pk).update(not_before=None)
        assert worker(machine, script).run_one()
    run.refresh_from_db()
    assert (run.attempt, run.verdict, run.reason) == (3, "infrastructure", "as scripted")


def test_a_runner_that_raises_does_not_stop_the_queue(
    transactional_db: None, alice: User, machine: Machine
) -> None:
    submission = enter(alice)

    def fail_once(job: Job) -> None:
        if job.run_id == submission.runs.order_by("id")[0].pk:
            message = "no space left"
            raise OSError(message)

    assert worker(machine, Scripted(during=fail_once)).drain() == 3
    states = list(submission.runs.order_by("id").values_list("state", flat=True))
    assert states == ["queued", "done", "done"]


def test_a_result_that_cannot_be_written_does_not_stop_the_queue(
    transactional_db: None, alice: User, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = enter(alice)
    poisonous = submission.runs.order_by("id")[0]
    write = services.record

    def refuse(report: RunReport) -> bool:
        if report.run_id == poisonous.pk:
            raise DataError
        return write(report)

    monkeypatch.setattr(services, "record", refuse)
    for _ in range(3):
        Run.objects.update(not_before=None)
        worker(machine, Scripted()).drain()
    assert set(submission.runs.values_list("state", flat=True)) == {State.DONE}
    poisonous.refresh_from_db()
    assert (poisonous.verdict, poisonous.attempt) == ("infrastructure", 3)
    assert "Keydrome could not store the result (exception DataError)." in poisonous.reason


def test_a_worker_outlives_its_database(
    transactional_db: None, alice: User, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = enter(alice)
    at_work = worker(machine, Scripted())
    claim = claims.claim
    left = [OperationalError(), None, None, None, None]

    def sometimes(slot: Slot, versions: dict[str, int]) -> Run | None:
        error = left.pop(0)
        if error is not None:
            raise error
        if not left:
            at_work.stop()
        return claim(slot, versions)

    monkeypatch.setattr(claims, "claim", sometimes)
    monkeypatch.setattr("leaderboard.worker.IDLE_SECONDS", 0.0)
    at_work.work()
    assert set(submission.runs.values_list("state", flat=True)) == {State.DONE}


def test_a_slot_that_could_not_be_used_is_free_for_the_next_wake_up(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_number: int) -> Slot:
        raise OperationalError

    slot = slots_for_tests()[0]
    monkeypatch.setenv("KEYDROME_SLOT", str(slot))
    monkeypatch.setattr(tasks, "register_slot", away)
    with pytest.raises(OperationalError):
        tasks.wake_up(wakeup.BENCH)
    with hold_slot(slot):
        pass


def test_a_worker_without_its_programs_touches_nothing(
    alice: User, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    submission = enter(alice)
    slot = str(slots_for_tests()[0])
    monkeypatch.setenv("KEYDROME_BUILD", str(tmp_path))
    monkeypatch.setenv("KEYDROME_SLOT", slot)
    with pytest.raises(CommandError, match=r"not built yet: .*/bin/referee.*run \./dev build"):
        call_command("work", "--drain", "--slot", slot, stdout=StringIO())
    with pytest.raises(NotBuiltError):
        tasks.wake_up(wakeup.BENCH)
    assert set(submission.runs.values_list("state", flat=True)) == {State.QUEUED}


def test_copies_of_a_worker_take_a_slot_each(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    first, second = slots_for_tests()[:2]
    monkeypatch.setenv("KEYDROME_SLOT", str(first))
    settings.KEYDROME_SLOTS = 2
    with ExitStack() as held:
        assert [tasks._hold_free_slot(held) for _ in range(2)] == [first, second]
        with pytest.raises(SlotsTakenError):
            tasks._hold_free_slot(held)


def test_a_worker_that_is_stopped_gives_its_run_back(alice: User, machine: Machine) -> None:
    enter(alice)
    script = Scripted()
    at_work = worker(machine, script)
    script.during = lambda _job: at_work.stop()
    assert at_work.run_one()
    assert not at_work.run_one()
    run = Run.objects.get(pk=script.jobs[0].run_id)
    assert (run.state, run.attempt) == (State.QUEUED, 1)


def test_a_database_that_is_away_for_a_moment_stops_no_run(
    transactional_db: None, alice: User, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(alice)
    heard = claims.heartbeat

    def deaf_once(*arguments: Any) -> Heartbeat:
        monkeypatch.setattr(claims, "heartbeat", heard)
        raise OperationalError

    monkeypatch.setattr(claims, "heartbeat", deaf_once)
    script = Scripted()
    assert worker(machine, script).run_one()
    assert Run.objects.get(pk=script.jobs[0].run_id).verdict == "passed"


def test_a_new_process_takes_back_what_the_dead_one_had(alice: User, machine: Machine) -> None:
    enter(alice)
    left = claims.claim(Slot(machine, 0))
    elsewhere = claims.claim(Slot(machine, 1))
    assert left is not None
    assert elsewhere is not None
    assert worker(machine, Scripted()).take_back() == [left.pk]
    left.refresh_from_db()
    elsewhere.refresh_from_db()
    assert (left.state, elsewhere.state) == (State.QUEUED, State.CLAIMED)


def test_a_worker_recovers_lost_runs_of_others_once_in_a_period(
    alice: User, machine: Machine, settings: Any
) -> None:
    """A bench worker recovers the run, because the results worker may be dead, too."""
    enter(alice)
    lost, later = claims.claim(Slot(machine, 0)), claims.claim(Slot(machine, 1))
    assert lost is not None
    assert later is not None
    settings.KEYDROME_SWEEP_SECONDS = 1000
    at_work = worker(machine, Scripted(), 2)
    Run.objects.filter(pk=lost.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert at_work.run_one()
    lost.refresh_from_db()
    assert (lost.state, lost.attempt) == (State.QUEUED, 1)
    Run.objects.filter(pk=later.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert not at_work.run_one()
    later.refresh_from_db()
    assert later.state == State.CLAIMED
    at_work.recover_at = 0.0
    assert not at_work.run_one()
    later.refresh_from_db()
    assert later.state == State.QUEUED


def test_a_slot_runs_one_thing_at_a_time(alice: User, machine: Machine) -> None:
    enter(alice)
    assert claims.claim(Slot(machine, 0)) is not None
    assert claims.claim(Slot(machine, 0)) is None
    assert claims.claim(Slot(machine, 1)) is not None


def test_a_slot_belongs_to_one_process() -> None:
    first, second = slots_for_tests()[:2]
    with hold_slot(first):
        with (
            pytest.raises(SlotsTakenError, match=f"jail slot {first} is in use by another process"),
            hold_slot(first),
        ):
            pytest.fail("the slot was given twice")
        with hold_slot(second):
            pass
    with hold_slot(first):
        pass


def test_a_worker_leaves_runs_of_other_versions_and_says_why(
    alice: User, machine: Machine, repository: Repository
) -> None:
    submission = enter(alice)
    Run.objects.filter(benchmark="phantom").update(benchmark_version=2)
    Run.objects.filter(benchmark="unit").update(benchmark="newer")
    script = Scripted()
    old = worker(machine, script)
    assert old.drain() == 1
    assert [job.benchmark for job in script.jobs] == ["sigmod2009"]
    machine.refresh_from_db()
    update = "an organiser must update and restart this worker"
    assert machine.refusal == (
        f"some waiting runs need version 1 of the benchmark newer, and this worker has no benchmark of this name: "
        f"{update}, or cancel the runs if Keydrome no longer has the benchmark; "
        f"some waiting runs need version 2 of the benchmark phantom, and this worker has version 1: {update}"
    )
    assert set(submission.runs.filter(state="queued").values_list("attempt", flat=True)) == {0}
    repository.set_version("phantom", 2)
    Run.objects.filter(benchmark="newer").update(benchmark="unit")
    assert old.drain() == 2
    assert not old.run_one()
    machine.refresh_from_db()
    assert machine.refusal == ""


def test_a_result_waits_for_the_database_as_long_as_the_lease(
    transactional_db: None, alice: User, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(alice)
    write = services.record
    errors = [OperationalError(), InterfaceError()]

    def late(report: RunReport) -> bool:
        if errors:
            raise errors.pop()
        return write(report)

    monkeypatch.setattr(services, "record", late)
    script = Scripted()
    assert worker(machine, script).run_one()
    run = Run.objects.get(pk=script.jobs[0].run_id)
    assert (run.verdict, run.attempt, errors) == ("passed", 1, [])


def test_a_worker_that_could_not_write_its_end_takes_the_run_back(
    transactional_db: None,
    alice: User,
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    """The database is away until the lease has ended. When it is back, the worker queues its old run again."""
    enter(alice)
    settings.KEYDROME_LEASE_SECONDS = 0
    write, again = services.record, services.try_again
    away = {"record", "try_again"}

    def record(report: RunReport) -> bool:
        if "record" in away:
            raise OperationalError
        return write(report)

    def try_again(run_id: int, attempt: int, reason: str) -> bool:
        if "try_again" in away:
            raise OperationalError
        return again(run_id, attempt, reason)

    monkeypatch.setattr(services, "record", record)
    monkeypatch.setattr(services, "try_again", try_again)
    at_work = worker(machine, Scripted())
    with pytest.raises(OperationalError):
        at_work.run_one()
    left = Run.objects.get(state=State.RUNNING)
    away.clear()
    settings.KEYDROME_LEASE_SECONDS = 60
    assert at_work.run_one()
    left.refresh_from_db()
    assert (left.state, left.attempt) == (State.QUEUED, 1)


def test_clocks_that_are_wrong_or_jump_take_no_lease_away(alice: User, machine: Machine) -> None:
    enter(alice)
    run = claims.claim(Slot(machine, 0))
    assert run is not None
    for away in (timedelta(hours=-5), timedelta(hours=5)):
        with time_machine.travel(timezone.now() + away):  # moves this process's clock only
            assert claims.heartbeat(run.pk, run.attempt, 0.5, "") is Heartbeat.CONTINUE
            assert services.recover_and_wake().requeued == ()
        assert services.recover_and_wake().requeued == ()


def test_a_lease_from_before_the_databases_clock_was_set_back_runs_out(
    alice: User, machine: Machine
) -> None:
    enter(alice)
    run = claims.claim(Slot(machine, 0))
    assert run is not None
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() + timedelta(hours=5))
    assert services.recover_and_wake().requeued == (run.pk,)
