"""Tests what a worker, which executes runs, does if its program is older or newer than the site.

The worker reports the difference and changes nothing.
"""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from leaderboard.models import Machine
from leaderboard.queue.versions import SchemaSkewError, require_own_schema
from leaderboard.worker import register_slot
from runner.slots import slots_for_tests

pytestmark = pytest.mark.django_db


def test_one_version_is_fine() -> None:
    require_own_schema()


@pytest.mark.parametrize("application", ["leaderboard", "contests"])
def test_a_worker_older_than_the_site_refuses(application: str) -> None:
    MigrationRecorder(connection).record_applied(application, "9999_of_the_future")
    with pytest.raises(
        SchemaSkewError,
        match=rf"has migration {application}\.9999_of_the_future, which this worker does not",
    ):
        register_slot(0)
    assert Machine.objects.count() == 0


def test_a_site_older_than_the_worker_is_named() -> None:
    MigrationRecorder(connection).record_unapplied("leaderboard", "0006_fair_queue")
    with pytest.raises(
        CommandError, match=r"lacks migration leaderboard\.0006_fair_queue: update the site"
    ):
        call_command("work", "--drain", "--slot", str(slots_for_tests()[0]), stdout=StringIO())
