"""Tests that the spot check of a ranked run finds a library that turns wrong after 100,000 commits (mutant M43).

A spot check is an additional session of a ranked run. All its calls are recorded, and the checker must find a serial
order of the transactions that explains the results. The library cannot know that a session is a spot check.
The secret seeds of a run decide whether the run gets a spot check. The test uploads the library, and the real worker,
referee, player and jail execute the run. Only the sizes differ from a real run: loading makes more than 100,000
commits, and then four threads read and change the same rows of one warehouse of the benchmark `tpcc`.
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

from leaderboard import services
from leaderboard.catalogue import Target
from leaderboard.machines import registry
from leaderboard.queue.claims import Slot
from leaderboard.worker import Worker
from runner.execute import execute
from runner.slots import hold_local_slot
from runner.spot_check import RECORDED, spot_check_seed
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
FOUND_MIN = (
    RUNS - RUNS // 20
)  # one seed of twenty may miss the fault, because threads must overlap to show it


@dataclass(frozen=True)
class Track:
    """A site with a bench worker that executes uploaded libraries."""

    world: World
    place: Settings

    def run(self, name: str, seed: str) -> Run:
        """Upload a library for the benchmark `tpcc`, let the worker execute it with this seed, and return the run."""
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
        machine = registry.seen("bench1", "fast", {})
        worker = Worker(Slot(machine, self.place.slot), self._execute)
        assert worker.run_one()
        return timed.get()

    def _execute(self, job: Job, beat: Callable[[Progress], bool]) -> RunReport:
        return execute(replace(job, parameters=SIZES), beat, self.place)


def drawn_seeds() -> Iterator[str]:
    """Yield seeds with which the site chooses a run for a spot check."""
    for number in count():
        seed = f"5eed5eed{number:08x}"
        if spot_check_seed([seed], site.KEYDROME_RECORD_ONE_IN) is not None:
            yield seed


@pytest.fixture
def track(world: World, own_var: Path) -> Iterator[Track]:
    with hold_local_slot() as slot:
        yield Track(world, replace(built_settings(), var=own_var, slot=slot))


@pytest.mark.django_db(transaction=True)
def test_a_drawn_run_is_refused_for_what_its_recorded_session_shows(track: Track) -> None:
    assert site.KEYDROME_RECORD_ONE_IN == 10
    runs = [track.run(f"mutant_{NUMBER}", seed) for seed in islice(drawn_seeds(), RUNS)]
    found = [set(run.decisive_findings) for run in runs if run.reason.startswith(RECORDED)]
    assert len(found) == RUNS, [run.reason for run in runs]
    assert {run.verdict for run in runs} == {"failed"}
    assert sum(bool(names & NAMES) for names in found) >= FOUND_MIN, found
