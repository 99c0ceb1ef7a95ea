"""Says what to do if other programs used so much processor time that the referee could not judge the library."""

from __future__ import annotations

# How the reason ends (harness/referee/session/starvation.cc).
_TOO_BUSY = "the machine was too busy to judge the library"


def what_to_end(reason: str) -> str:
    """Return what to do if `reason` says that the machine was too busy, or an empty string."""
    if _TOO_BUSY not in reason:
        return ""
    return "end other programs or give the run more processors, then repeat it"
