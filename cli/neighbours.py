"""Notices other Keydrome processes that run libraries at the same time, because they make the measured times longer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.slots import other_slots

if TYPE_CHECKING:
    from cli.output.progress import Heartbeat
    from runner.contract import Progress


@dataclass(slots=True)
class Neighbours:
    """The jail slots in which other processes were seen to run libraries. `own` is the slot of this process.

    A jail slot is a number that gives a jail (sandbox) its own user. A process holds a slot while it runs libraries.
    """

    own: int
    seen: set[int] = field(default_factory=set)

    def look(self) -> None:
        """Add the jail slots that other processes hold now."""
        self.seen |= other_slots(self.own)

    def watched(self, heartbeat: Heartbeat) -> Heartbeat:
        """Return a heartbeat function that also calls look() when this process begins to run its next library."""
        last = (-1, "")

        def beat(progress: Progress) -> bool:
            nonlocal last
            now = (progress.session, progress.role)
            if now != last:
                last = now
                self.look()
            return heartbeat(progress)

        return beat
