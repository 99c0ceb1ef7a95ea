"""Tests that a command notices other Keydrome processes that run libraries."""

from __future__ import annotations

from cli.neighbours import Neighbours
from runner.contract import Progress
from runner.settings import SLOT_MAX
from runner.slots import hold_local_slot, hold_slot, other_slots


def test_a_held_slot_is_seen_by_others() -> None:
    with hold_local_slot() as own, hold_slot(own + 1, SLOT_MAX) as other:
        assert other in other_slots(own)
        assert own not in other_slots(own)
    assert own not in other_slots(other)


def test_a_neighbour_that_ends_early_is_remembered() -> None:
    with hold_local_slot() as own:
        neighbours = Neighbours(own)
        heartbeat = neighbours.watched(lambda _progress: True)
        with hold_slot(own + 1, SLOT_MAX) as other:
            assert heartbeat(Progress(1, 2, "candidate", "start", 0.0))
        heartbeat(Progress(2, 2, "candidate", "start", 0.5))
    assert other in neighbours.seen
