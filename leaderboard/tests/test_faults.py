"""Tests faults: workers that are killed at any moment of a run, lost database connections, lost and extra messages.

A worker is a process that executes runs. A wake-up is a message that tells an idle worker to look for a run.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, transaction
from django.utils import timezone

from leaderboard import services, tasks
from leaderboard.models import Machine, Run, RunDetail, State
from leaderboard.queue import quotas, wakeup
from leaderboard.queue.claims import Slot
from leaderboard.tests.conftest import enter
from leaderboard.tests.moments import MOMENTS, stopped_at
from leaderboard.tests.test_worker import Scripted, worker
from runner.contract import RunReport
from runner.terms import Verdict

pytestmark = pytest.mark.django_db(transaction=True)
STATE_LEFT = {"claimed": "claimed", "recorded": "done"}


@pytest.mark.parametrize("found_by", ["its successor", "the results worker"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_worker_killed_at_any_moment_leaves_one_verdict(
    alice: User, machine: Machine, moment: str, found_by: str
) -> None:
    enter(alice)
    hit = Run.objects.order_by("id")[0]
    slot = Slot(machine, 0)
    with stopped_at(moment, slot, Scripted()):
        pass
    hit.refresh_from_db()
    assert (hit.state, hit.attempt) == (STATE_LEFT.get(moment, "running"), 1)
    lost = moment != "recorded"
    successor = worker(machine, Scripted())
    if found_by == "its successor":
        assert successor.take_back() == ([hit.pk] if lost else [])
    else:
        assert services.recover_and_wake().requeued == ()
        Run.objects.filter(pk=hit.pk, state__in=("claimed", "running")).update(
            lease_until=timezone.now() - timedelta(seconds=1)
        )
        assert services.recover_and_wake().requeued == ((hit.pk,) if lost else ())
    Run.objects.update(not_before=None)
    assert successor.drain() == (3 if lost else 2)
    assert set(Run.objects.values_list("state", "verdict")) == {("done", "passed")}
    assert RunDetail.objects.count() == 3
    hit.refresh_from_db()
    assert hit.attempt == (2 if lost else 1)
    assert not Run.objects.exclude(pk=hit.pk).exclude(attempt=1).exists()


def test_a_run_whose_workers_are_all_killed_ends_as_a_failure_of_the_site(
    alice: User, machine: Machine, settings: Any
) -> None:
    settings.KEYDROME_SUBMISSIONS_PER_DAY = 1
    submission = enter(alice)
    submission.runs.exclude(benchmark="unit").update(state="cancelled")
    slot = Slot(machine, 0)
    for _ in range(3):
        with stopped_at("running", slot, Scripted()):
            pass
        worker(machine, Scripted()).take_back()
        Run.objects.update(not_before=None)
    run = submission.runs.get(benchmark="unit")
    assert (run.state, run.verdict, run.attempt) == (State.DONE, Verdict.INFRASTRUCTURE, 3)
    assert "This was attempt 3 of 3" in run.reason
    with transaction.atomic():
        assert quotas.reason_against(alice) == ""


def test_a_write_whose_answer_was_lost_is_done_once(
    alice: User, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection breaks between commit and reply. The worker, which cannot know of the commit, writes again."""
    enter(alice)
    write = services.record
    answers: list[bool] = []

    def record(report: RunReport) -> bool:
        answers.append(write(report))
        if len(answers) == 1:
            raise OperationalError
        return answers[-1]

    monkeypatch.setattr(services, "record", record)
    script = Scripted()
    assert worker(machine, script).run_one()
    assert answers == [True, False]
    run = Run.objects.get(pk=script.jobs[0].run_id)
    assert (run.verdict, run.attempt) == ("passed", 1)
    assert RunDetail.objects.count() == 1


def test_messages_lost_doubled_or_late_change_nothing(
    alice: User, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wake-up message names no run, and makes the worker execute at most one run. An extra message finds no run."""
    script = Scripted()
    monkeypatch.setattr(tasks, "_this_worker", lambda: worker(machine, script))
    woken: list[str] = []
    monkeypatch.setattr(wakeup, "wake", woken.append)
    tasks.wake_up(wakeup.BENCH)  # a late message: no run is queued
    submission = enter(alice)
    tasks.wake_up(wakeup.BENCH)
    assert wakeup.BENCH in woken  # the worker itself sends the next wake-up
    for _ in range(5):
        tasks.wake_up(wakeup.BENCH)
    assert len(script.jobs) == submission.runs.count() == 3
    assert len({job.run_id for job in script.jobs}) == 3
    lost = enter(alice, 1)
    woken.clear()
    services.recover_and_wake()
    assert woken == [wakeup.BENCH]
    assert lost.runs.filter(state=State.QUEUED).count() == 3
