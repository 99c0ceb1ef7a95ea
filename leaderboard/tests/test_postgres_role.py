"""Tests the database role of the bench worker, which executes runs, on PostgreSQL.

The role suffices for the worker, and allows nothing dangerous.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone

from leaderboard import catalogue
from leaderboard.boards import board_named
from leaderboard.catalogue import Target
from leaderboard.contests.hidden_board import rules_for
from leaderboard.contests.models import Contest, HiddenInstance
from leaderboard.models import BoardEntry, Machine, Run
from leaderboard.queue import claims
from leaderboard.submissions.new_runs import new_run
from leaderboard.tests.conftest import REPOSITORY, enter
from leaderboard.tests.test_worker import Scripted
from leaderboard.worker import Worker, register_slot

pytestmark = pytest.mark.django_db
ROLE_SQL = REPOSITORY / "deploy" / "postgres" / "worker_role.sql"
FORBIDDEN = (
    "SELECT password FROM auth_user",
    "SELECT * FROM django_session",
    "UPDATE auth_user SET is_staff = true",
    "INSERT INTO leaderboard_run DEFAULT VALUES",
    "DELETE FROM leaderboard_run",
    "UPDATE leaderboard_run SET seeds = '[]'",
    "UPDATE leaderboard_run SET benchmark = 'other'",
    "UPDATE leaderboard_run SET verified = false",
    "UPDATE leaderboard_submission SET trusted = true",
    "SELECT * FROM leaderboard_announcement",
    "SELECT * FROM contests_contest",
    "UPDATE contests_hiddeninstance SET parameters = '{}'",
    "UPDATE leaderboard_run SET hidden_id = NULL",
    "CREATE TABLE mine (x int)",
)


@contextmanager
def as_worker(script: Path = ROLE_SQL) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute(script.read_text())
        cursor.execute("SET ROLE keydrome_worker")
        try:
            yield
        finally:
            cursor.execute("RESET ROLE")


def test_the_worker_can_claim_execute_and_record(alice: User) -> None:
    enter(alice)
    with as_worker():
        worker = Worker(register_slot(0), Scripted(), heartbeat_seconds=0.0)
        assert worker.take_back() == []
        assert worker.drain() == 3
    assert set(Run.objects.values_list("verdict", flat=True)) == {"passed"}
    assert BoardEntry.objects.count() == 1
    assert Machine.objects.count() == 1


def test_the_worker_plays_hidden_instances(alice: User) -> None:
    now = timezone.now()
    dates = dict.fromkeys(("opens_at", "freezes_at", "closes_at", "results_at"), now)
    found, metric = board_named("preliminary1"), catalogue.benchmarks()["sigmod2009"].metric
    assert found is not None
    assert metric is not None
    hidden = HiddenInstance.objects.create(
        contest=Contest.objects.create(slug="cup", name="Cup", **dates),
        title="The surprise",
        benchmark="sigmod2009",
        instance="preliminary2",
        scale="paper",
        parameters={"threads": 7},
        sessions=15,
        rules=rules_for("sigmod2009", metric, "paper", [found]),
    )
    target = Target("sigmod2009", hidden.name)
    run = new_run(enter(alice), target, "paper", 15, hidden=hidden)
    with transaction.atomic():
        claims.enqueue(alice.pk, [run])
    script = Scripted()
    with as_worker():
        assert Worker(register_slot(0), script, heartbeat_seconds=0.0).drain() == 4
    assert [(job.instance, job.parameters) for job in script.jobs if job.parameters] == [
        ("preliminary2", (("threads", 7),))
    ]
    played = Run.objects.get(hidden=hidden)
    assert (played.eligible, played.ranked_on) == (True, [hidden.slug])
    assert BoardEntry.objects.count() == 1


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_the_worker_can_do_nothing_else(alice: User, statement: str) -> None:
    enter(alice)
    with (
        as_worker(),
        pytest.raises(ProgrammingError, match="permission denied"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
