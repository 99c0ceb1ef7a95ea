"""The lot finds what is right only for its first 100,000 commits (M43), on the way of a ranked run.

A user uploads the library; services, queue and worker take it to the real referee, player and jail, and the run's
secret seeds say whether one more session is recorded. Only the sizes are the test's: the load alone is more than
100,000 commits, and four terminals then read and change the same rows of one warehouse.
"""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import TYPE_CHECKING

import pytest
from django.conf import settings as site

from leaderboard import machines, services
from leaderboard.catalogue import Target
from leaderboard.claims import Slot
from leaderboard.worker import Worker
from runner.execute import execute
from runner.lot import RECORDED, draw_seed
from runner.slots import hold_local_slot
from tests.binaries import built_settings, library
from tests.referee_run import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from leaderboard.models import Run
    from runner.contract import Job, Progress, RunReport
    from runner.settings import Settings
    from web.tests.world import World

NUMBER = 43
MUTANT = next(
    mutant
    for mutant in json.loads((ROOT / "tests" / "faulty" / "mutants.json").read_text())
    if mutant["number"] == NUMBER
)
NAMES = set(MUTANT["names"])
GATE = MUTANT["gate"]
SIZES = tuple(GATE["parameters"].items())
RUNS = 20 if "KEYDROME_SOAK" in os.environ else 1
FOUND_MIN = RUNS - RUNS // 20  # what needs two threads to meet may escape one seed of twenty


@dataclass(frozen=True)
class Track:
    """A site and its bench worker."""

    world: World
    place: Settings

    def run(self, name: str, seed: str) -> Run:
        """Upload a library for TPC-C-derived, give the run this seed, let the worker take it and return it."""
        submission = services.submit(
            owner=self.world.alice,
            file=io.BytesIO(library(self.place, "faulty", name).read_bytes()),
            file_name=f"{name}.so",
            targets=[Target(GATE["benchmark"], GATE["instance"])],
            scale="smoke",
            sessions=1,
        )
        submission.runs.filter(kind="correctness").update(state="cancelled")
        timed = submission.runs.filter(kind="performance")
        timed.update(seeds=[seed])
        machine = machines.seen("bench1", "fast", {})
        worker = Worker(Slot(machine, self.place.slot), self._execute)
        assert worker.run_one()
        return timed.get()

    def _execute(self, job: Job, beat: Callable[[Progress], bool]) -> RunReport:
        return execute(replace(job, parameters=SIZES), beat, self.place)


def drawn_seeds() -> Iterator[str]:
    """Give seeds of runs on which the site's lot falls."""
    for number in count():
        seed = f"5eed5eed{number:08x}"
        if draw_seed([seed], site.KEYDROME_RECORD_ONE_IN) is not None:
            yield seed


@pytest.fixture
def track(world: World, own_var: Path) -> Iterator[Track]:
    with hold_local_slot() as slot:
        yield Track(world, replace(built_settings(), var=own_var, slot=slot))


@pytest.mark.django_db(transaction=True)
def test_a_drawn_run_is_refused_for_what_its_recorded_session_shows(track: Track) -> None:
    assert site.KEYDROME_RECORD_ONE_IN == 10
    runs = [track.run(f"mutant_{NUMBER}", seed) for seed in islice(drawn_seeds(), RUNS)]
    found = [set(run.faults) for run in runs if run.reason.startswith(RECORDED)]
    assert len(found) == RUNS, [run.reason for run in runs]
    assert {run.verdict for run in runs} == {"failed"}
    assert sum(bool(names & NAMES) for names in found) >= FOUND_MIN, found
