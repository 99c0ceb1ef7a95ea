"""The table of a run's sessions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.contract import Verdict
from web.tests.world import World, _session, claim, finish, run_of

if TYPE_CHECKING:
    from django.test import Client


def test_a_void_session_says_why(alice: Client, world: World) -> None:
    submission = world.submit()
    run = run_of(submission)
    while (claimed := claim()).pk != run.pk:
        finish(claimed)
    void = "control 1.31 times slower, allowed 1.10"
    sessions = [
        _session(claimed, seed, n, Verdict.PASSED, timed=True) for n, seed in enumerate("abc")
    ]
    finish(claimed, sessions=(*sessions[:2], replace(sessions[2], void=void)))
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    assert page.count(void) == 1
    assert "counts for nothing and was repeated" in page
    assert page.count('<th scope="row" class="num">') == 3
