"""Tests which sessions of a run are audited, and how findings about them reach the run's page and the board.

A session is one repetition of a run. An audit plays a session twice: as usual, and in verified mode. In verified mode
another process makes the calls, so a library cannot read its next calls in the memory of its caller. The finding
`look_ahead` says that a library is much slower in verified mode.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from leaderboard import queries
from leaderboard.audits import look_ahead
from leaderboard.models import BoardEntry, Machine, Run, RunDetail
from leaderboard.submissions.reruns import rerun
from leaderboard.tests.conftest import enter
from leaderboard.tests.test_record import gates, ranked, rows, timed
from leaderboard.worker import make_job
from results.look_ahead import PAIRS_MIN
from runner.report import AuditPair, Finding
from runner.terms import Severity, Verdict

if TYPE_CHECKING:
    from typing import Any

    from django.contrib.auth.models import User

    from leaderboard.tests.conftest import Track

pytestmark = pytest.mark.django_db

HONEST = AuditPair(100.0, 400.0, 200.0, 490.0, comparable=True)
CHEAT = replace(HONEST, candidate_verified_ns=900.0)


def again(track: Track, run: Run, user: User, **report: Any) -> Run:
    """Rerun a finished timed run, and finish it with a report that has these fields."""
    return track.finish(rerun(run, by=user), **report)


def findings_of(run: Run) -> list[str]:
    return [finding["name"] for finding in RunDetail.objects.get(run=run).findings]


def test_the_seeds_choose_the_audited_sessions(
    alice: User, machine: Machine, settings: Any
) -> None:
    submission = enter(alice)
    Run.objects.update(attempt=1)
    run = timed(submission)
    assert make_job(run).audited_seeds == ()
    settings.KEYDROME_AUDIT_ONE_IN = 2
    chosen = make_job(run).audited_seeds
    assert 0 < len(chosen) < len(run.seeds)
    assert set(chosen) < set(run.seeds)
    assert make_job(run).audited_seeds == chosen, "a second attempt has the same audits"
    gate = submission.runs.select_related("submission").filter(kind="correctness")[0]
    assert make_job(gate).audited_seeds == ()
    run.verified = True
    settings.KEYDROME_AUDIT_ONE_IN = 0
    assert make_job(run).audited_seeds == tuple(run.seeds), "an organiser's audit plays both modes"


def test_enough_pairs_of_one_run_decide(alice: User, track: Track) -> None:
    submission = enter(alice)
    for gate in gates(submission):
        track.finish(gate)
    run = track.finish(timed(submission), audits=[CHEAT] * PAIRS_MIN)
    assert findings_of(run) == ["look_ahead"]
    assert run.verdict == Verdict.PASSED
    assert run.eligible, "the finding is only a warning"
    (row,) = rows()
    meaning = "warning: the library may read its next calls in advance"
    assert row.advisories == [{"name": "look_ahead", "text": meaning, "run": run.pk}]
    page = queries.run_page(run.pk, alice)
    assert page is not None
    assert page.audit is not None
    assert (page.audit.pairs, page.audit.looks_ahead) == (PAIRS_MIN, True)
    assert [finding.name for finding in page.advisory] == ["look_ahead"]


def test_an_honest_library_has_no_finding(alice: User, track: Track) -> None:
    submission = enter(alice)
    for gate in gates(submission):
        track.finish(gate)
    run = track.finish(timed(submission), audits=[HONEST] * 15)
    assert findings_of(run) == []
    (row,) = rows()
    assert row.advisories == []


def test_the_runs_of_a_binary_count_together(alice: User, bob: User, track: Track) -> None:
    first = ranked(track, enter(alice))
    for number in range(PAIRS_MIN - 1):
        run = again(track, first, alice, audits=[CHEAT])
        assert findings_of(run) == [], number
    stranger = enter(bob, 1)
    other = track.finish(timed(stranger), audits=[CHEAT] * (PAIRS_MIN - 1))
    assert findings_of(other) == [], "the sessions of another binary do not count"
    assert findings_of(again(track, first, alice)) == [], "a run without audits says nothing"
    last = again(track, first, alice, audits=[CHEAT])
    assert findings_of(last) == ["look_ahead"]
    audit = look_ahead.audit_of(last)
    assert audit is not None
    assert audit.pairs == PAIRS_MIN


def test_discarded_and_failed_sessions_do_not_count(alice: User, track: Track) -> None:
    first = ranked(track, enter(alice))
    again(track, first, alice, audits=[CHEAT] * PAIRS_MIN, void=range(PAIRS_MIN))
    again(track, first, alice, audits=[CHEAT] * PAIRS_MIN, verdict=Verdict.CRASHED)
    assert look_ahead.audit_of(first) is None
    page = queries.run_page(first.pk, alice)
    assert page is not None
    assert page.audit is None


def test_the_board_shows_that_memory_grows(alice: User, track: Track) -> None:
    growth = Finding("scenarios", "memory_growth", Severity.ADVISORY, "memory grew")
    other = Finding("scenarios", "misuse", Severity.ADVISORY, "not shown on boards")
    submission = enter(alice)
    first, *others = gates(submission)
    for gate in others:
        track.finish(gate)
    track.finish(timed(submission))
    assert not BoardEntry.objects.exists()
    track.finish(first, findings=(growth, other), metrics={"growth_per_transaction": 1040.4})
    (row,) = rows()
    text = "1,040 bytes per transaction"
    assert row.advisories == [{"name": "memory_growth", "text": text, "run": first.pk}]
