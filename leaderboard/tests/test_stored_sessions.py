"""Tests how the sessions (repetitions) of a run are stored in the database.

Rows that older versions of the site have written are still read.
"""

from __future__ import annotations

from typing import Any

import pytest

from leaderboard.submissions.report_columns import StoredSession
from runner.contract import Session
from runner.strict import StrictError
from runner.tests.samples import report


def row(**changes: object) -> dict[str, Any]:
    session = Session("0" * 16, True, report(total_ms=4.0), report(total_ms=8.0), discarded="why")
    return StoredSession.of(session, "total_ms").to_json() | changes


def test_a_row_is_read_as_it_was_stored() -> None:
    stored = StoredSession.from_json(row())
    assert (stored.ratio, stored.control_ms, stored.discarded) == (0.5, 8.0, "why")
    assert stored.to_json() == row()


def test_rows_from_before_the_control_ran_twice_have_the_one_control_time() -> None:
    old = row()
    del old["void"], old["control_ms"]
    stored = StoredSession.from_json(old)
    assert (stored.discarded, stored.control_ms) == ("", 8.0)
    assert StoredSession.from_json(old | {"control": None}).control_ms is None


def test_a_row_of_another_form_is_refused() -> None:
    with pytest.raises(StrictError, match="unknown field 'extra'"):
        StoredSession.from_json(row(extra=1))
