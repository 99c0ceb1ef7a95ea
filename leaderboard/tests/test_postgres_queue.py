"""Tests the properties that keep the queue fast on PostgreSQL: queries use the right indexes, and workers never wait.

tools/bench/queue_scale.py measures the queue with a thousand workers.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from leaderboard import services
from leaderboard.models import Run
from leaderboard.queue import claims, queue_estimate
from leaderboard.queue.claims import Slot
from leaderboard.tests.conftest import enter

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from leaderboard.models import Machine, Submission

pytestmark = pytest.mark.django_db(transaction=True)
RUNS = 2000
WORKERS = 8
CLAIMS = 5  # the number of claims of each worker


def many_runs(submission: Submission) -> None:
    """Queue copies of a submission's first run, and update the statistics that PostgreSQL's query planner uses."""
    with transaction.atomic():
        pattern = submission.runs.order_by("id")[0]
        fields = {
            field.attname: getattr(pattern, field.attname)
            for field in Run._meta.concrete_fields
            if not field.primary_key
        }
        Run.objects.bulk_create(Run(**{**fields, "virtual_time": n}) for n in range(RUNS))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE leaderboard_run")


def test_neither_claims_nor_recovery_read_the_whole_queue(alice: User, machine: Machine) -> None:
    many_runs(enter(alice))
    versions = {"unit": 1, "phantom": 1, "sigmod2009": 1}
    assert "run_queue" in claims.claimable(versions)[:1].explain()
    assert "Sort" not in claims.claimable(versions)[:1].explain()
    run = claims.claim(Slot(machine, 0), versions)
    assert run is not None
    assert "one_active_run_per_slot" in claims.lapsed().explain()


def test_a_position_in_the_queue_is_computed_from_its_head_alone(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_estimate, "COUNTED_MAX", 100)
    submission = enter(alice)
    many_runs(submission)
    last = submission.runs.order_by("-virtual_time")[:1]
    with CaptureQueriesContext(connection) as sent:
        assert queue_estimate.waits(list(last))[last[0].pk].position == 101
    (counting,) = (each["sql"] for each in sent if "row_number" in each["sql"])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {counting}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "run_queue" in plan
    assert max(int(rows) for rows in re.findall(r"rows=(\d+)", plan)) == 100


def test_a_heartbeat_writes_no_index(alice: User, machine: Machine) -> None:
    """A heartbeat is a heap-only update. If the lease had an index, each heartbeat would write to all indexes."""
    enter(alice)
    run = claims.claim(Slot(machine, 0))
    assert run is not None
    assert claims.start(run.pk, run.attempt)
    counts = "SELECT pg_stat_get_xact_tuples_updated(c), pg_stat_get_xact_tuples_hot_updated(c)"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"{counts} FROM (SELECT 'leaderboard_run'::regclass::oid c) t")
        updated, heap_only = cursor.fetchone()
        for _ in range(5):
            claims.heartbeat(run.pk, run.attempt, 0.5, "")
        cursor.execute(f"{counts} FROM (SELECT 'leaderboard_run'::regclass::oid c) t")
        assert cursor.fetchone() == (updated + 5, heap_only + 5)


def test_workers_that_claim_at_once_get_different_runs_and_none_waits_for_another(
    alice: User, machine: Machine
) -> None:
    many_runs(enter(alice))
    taken: list[list[int]] = [[] for _ in range(WORKERS)]

    def work(number: int) -> None:
        try:
            for _ in range(CLAIMS):
                run = claims.claim(Slot(machine, number))
                assert run is not None
                taken[number].append(run.pk)
                assert services.give_up(run.pk, run.attempt, "enough")
        finally:
            connection.close()

    with (
        transaction.atomic()
    ):  # one worker stays in the middle of its claim while all other workers claim runs
        first = claims.claim(Slot(machine, WORKERS))
        threads = [threading.Thread(target=work, args=[n]) for n in range(WORKERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert first is not None
    claimed = [first.pk, *(pk for each in taken for pk in each)]
    assert len(claimed) == len(set(claimed)) == 1 + WORKERS * CLAIMS
    assert set(Run.objects.filter(pk__in=claimed).values_list("attempt", flat=True)) == {1}
