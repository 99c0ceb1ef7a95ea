"""Tests claims and heartbeats, which use cached raw SQL, by comparing them with Django's own queries."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaderboard import services
from leaderboard.models import Machine, Run, State, Submission
from leaderboard.queue import claims
from leaderboard.queue.claims import Heartbeat, Slot
from leaderboard.tests.conftest import enter

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db
CLASSES = ("", "fast", "slow")
BENCHMARKS = ("unit", "phantom", "sigmod2009")
# When a run may start, in seconds from now: at any time, an hour ago, in an hour.
BACKOFFS = (None, -3600, 3600)

waiting_runs = st.lists(
    st.tuples(
        st.integers(0, 2),  # priority
        st.integers(0, 3),  # virtual time
        st.sampled_from(BENCHMARKS),
        st.integers(1, 2),  # version
        st.sampled_from(CLASSES),
        st.sampled_from(BACKOFFS),
        st.sampled_from([State.QUEUED, State.QUEUED, State.QUEUED, State.CANCELLED]),
    ),
    max_size=12,
)
known_versions = st.none() | st.dictionaries(st.sampled_from(BENCHMARKS), st.integers(1, 2))


@given(queue=waiting_runs, versions=known_versions, machine_class=st.sampled_from(CLASSES))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_claim_takes_the_first_run_of_the_queryset(
    alice: User,
    machine: Machine,
    queue: list[tuple[int, int, str, int, str, int | None, State]],
    versions: dict[str, int] | None,
    machine_class: str,
) -> None:
    """On random queues, each claim takes the run that `claimable` lists first, until no run can be claimed.

    The SQL of a claim is cached, so many examples use the SQL that an earlier example has built.
    """
    machine.machine_class = machine_class
    submission = Submission.objects.first() or enter(alice)
    Run.objects.all().delete()
    now = timezone.now()
    Run.objects.bulk_create(
        Run(
            submission=submission, priority=priority, virtual_time=time, benchmark=benchmark,
            benchmark_version=version, wanted_class=wanted, state=state, sessions=1, seeds=["0" * 16],
            not_before=None if backoff is None else now + timedelta(seconds=backoff),
        )
        for priority, time, benchmark, version, wanted, backoff, state in queue
    )  # fmt: skip
    for number in range(len(queue) + 1):
        first = claims.claimable(versions, machine_class).first()
        claimed = claims.claim(Slot(machine, number), versions)
        assert (claimed and claimed.pk) == (first and first.pk)
        if claimed is None:
            break
    assert not claims.claimable(versions, machine_class).exists()


def test_a_claimed_run_is_what_the_database_has(alice: User, machine: Machine) -> None:
    enter(alice)
    begin = timezone.now()
    with CaptureQueriesContext(connection) as sent:
        run = claims.claim(Slot(machine, 3))
        assert run is not None
        assert run.submission.owner_id == alice.pk
        assert run.machine == machine
    # The test executes in a transaction, so the claim also creates and releases a savepoint, which is not counted.
    statements = [each["sql"] for each in sent if "SAVEPOINT" not in each["sql"]]
    assert len(statements) == 2
    stored = Run.objects.get(pk=run.pk)
    for field in Run._meta.concrete_fields:
        assert getattr(run, field.attname) == getattr(stored, field.attname), field.name
    assert (stored.state, stored.attempt, stored.slot) == (State.CLAIMED, 1, 3)
    assert stored.lease_until is not None
    left = stored.lease_until - begin
    assert timedelta(seconds=50) < left < timedelta(seconds=70)


def test_a_lease_is_as_long_as_the_setting_says_now(
    alice: User, machine: Machine, plain_settings: object
) -> None:
    enter(alice)
    for number, seconds in enumerate((60, 600)):
        plain_settings.KEYDROME_LEASE_SECONDS = seconds  # type: ignore[attr-defined]
        run = claims.claim(Slot(machine, number))
        assert run is not None
        assert run.lease_until is not None
        assert run.heartbeat_at is not None
        assert run.lease_until - run.heartbeat_at == timedelta(seconds=seconds)


@pytest.mark.parametrize("asked", [False, True])
def test_a_heartbeat_is_one_statement_in_all_cases(
    alice: User, machine: Machine, asked: bool
) -> None:
    enter(alice)
    run = claims.claim(Slot(machine, 0))
    assert run is not None
    assert run.lease_until is not None
    if asked:
        assert services.cancel(run, by=alice)
    # Pretend that a second has passed, because the heartbeat may follow in the same tick of the database's clock.
    Run.objects.filter(pk=run.pk).update(lease_until=run.lease_until - timedelta(seconds=1))
    with CaptureQueriesContext(connection) as sent:
        learnt = claims.heartbeat(run.pk, run.attempt, 1.5, "50 % of\n%s")
    assert len(sent) == 1
    assert learnt is (Heartbeat.CANCEL if asked else Heartbeat.CONTINUE)
    stored = Run.objects.get(pk=run.pk)
    assert (stored.state, stored.progress, stored.progress_note) == (
        State.RUNNING, 1.0, "50 % of\n%s"
    )  # fmt: skip
    assert stored.lease_until is not None
    assert stored.lease_until >= run.lease_until


def test_a_heartbeat_of_an_attempt_that_lost_its_run_changes_nothing(
    alice: User, machine: Machine
) -> None:
    enter(alice)
    run = claims.claim(Slot(machine, 0))
    assert run is not None
    assert claims.heartbeat(run.pk, run.attempt + 1, 0.5, "") is Heartbeat.LOST
    assert claims.requeue(run.pk, run.attempt)
    assert claims.heartbeat(run.pk, run.attempt, 0.5, "") is Heartbeat.LOST
    assert Run.objects.get(pk=run.pk).state == State.QUEUED
