"""Tests faults that only a database server can have: PostgreSQL drops a connection in the middle of a transaction."""

import pytest
from django.contrib.auth.models import User
from django.db import connection

from leaderboard.models import Machine, Run, RunDetail
from leaderboard.ranking import board_entries
from leaderboard.tests.conftest import enter
from leaderboard.tests.test_worker import Scripted, worker

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_connection_dropped_in_mid_transaction_costs_nothing(
    alice: User, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(alice)
    refresh = board_entries.refresh
    dropped: list[int] = []

    def drop(changed: list[Run]) -> None:
        refresh(changed)
        if not dropped:
            dropped.append(changed[0].pk)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    monkeypatch.setattr(board_entries, "refresh", drop)
    assert worker(machine, Scripted()).run_one()
    run = Run.objects.get(pk=dropped[0])
    assert (run.state, run.verdict, run.attempt) == ("done", "passed", 1)
    assert RunDetail.objects.count() == 1
