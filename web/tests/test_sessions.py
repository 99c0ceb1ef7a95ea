"""Tests the table of a run's sessions (the repetitions of a timed run), which says why a session was discarded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.terms import Verdict
from web.tests.world import World, _session, claim, finish, run_of

if TYPE_CHECKING:
    from django.test import Client


def test_a_discarded_session_says_why(alice: Client, world: World) -> None:
    submission = world.submit()
    run = run_of(submission)
    while (claimed := claim()).pk != run.pk:
        finish(claimed)
    void = "the control library ran twice, and its second result is 1.31 times its first (allowed: 0.91 to 1.10)"
    sessions = [
        _session(claimed, seed, n, Verdict.PASSED, timed=True) for n, seed in enumerate("abc")
    ]
    finish(claimed, sessions=(*sessions[:2], replace(sessions[2], discarded=void)))
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    assert page.count(void) == 1
    assert "does not count, and is repeated" in page
    table = page[page.index('<h2 id="sessions">') :]
    assert table.count('<th scope="row" class="num">') == 3
    assert table.count('class="run-dot line-1"') == 3, "two sessions that count, and the median"
