"""Tests how a machine's noise and drift are computed from the control library's results, and how they affect ranks.

The control library is the baseline of every timed run. A series contains its results in the sessions (repetitions) of
one run.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.machines import control_history, control_noise
from leaderboard.machines.control_noise import Limits, Series
from leaderboard.models import BoardEntry, ControlSeries, Machine, Run
from leaderboard.tests.conftest import enter

if TYPE_CHECKING:
    from typing import Any

    from django.contrib.auth.models import User

    from leaderboard.tests.conftest import Track

LIMITS = Limits(noise=0.10, drift=0.10)
TARGET = ("sigmod2009", 1, "preliminary1", "paper")
OTHER = ("ycsb", 1, "a", "paper")


def series(level: float = 100.0, spread: float = 0.02, target: Any = TARGET) -> Series:
    """Return a series of fifteen sessions in which the control's time changes by `spread`, alternately up and down."""
    return Series(target, level, tuple(spread * (-1) ** n for n in range(15)))


def test_little_is_known_of_a_new_machine() -> None:
    assert control_noise.judge([], LIMITS) == control_noise.Judgement(None, None, "")
    short = [Series(TARGET, 100.0, ()) for _ in range(50)]
    found = control_noise.judge([*short, series()], LIMITS)
    assert (found.noise, found.drift, found.reason) == (None, None, "")


def test_noise_is_that_of_one_measurement() -> None:
    """Both of the control's times vary by 5 %, so the ratio after / before varies by 5 % times the square root of 2."""
    draw = random.Random(1)
    changes = tuple(draw.gauss(0, 0.05) - draw.gauss(0, 0.05) for _ in range(2000))
    found = control_noise.judge([Series(TARGET, 100.0, changes)], LIMITS)
    assert found.noise == pytest.approx(math.expm1(0.05), rel=0.06)
    assert found.reason == ""


def test_only_the_newest_series_say_how_noisy_it_is_now() -> None:
    noisy = [series(spread=0.5) for _ in range(20)]
    found = control_noise.judge([series(), series(), *noisy], LIMITS)
    assert found.noise == pytest.approx(math.expm1(1.4826 * 0.02 / math.sqrt(2)))
    assert found.reason == ""
    assert "differ by 68.9 % (limit 10.0 %)" in control_noise.judge(noisy, LIMITS).reason


def test_drift_is_against_the_same_target() -> None:
    earlier = [series(100.0) for _ in range(4)]
    slower = [series(125.0) for _ in range(5)]
    found = control_noise.judge([*slower, *earlier], LIMITS)
    assert found.drift == pytest.approx(0.25)
    assert found.reason == (
        "the results of the control library, a fixed library for comparison, "
        "changed by 25.0 % since earlier runs (limit 10.0 %)"
    )
    faster = [series(80.0) for _ in range(5)]
    assert "changed by -20.0 %" in control_noise.judge([*faster, *earlier], LIMITS).reason
    other = [series(500.0, target=OTHER) for _ in range(5)]
    assert control_noise.judge([*other, *earlier], LIMITS).drift is None, (
        "no earlier series of this target"
    )


@given(
    st.lists(
        st.tuples(
            st.sampled_from([TARGET, OTHER]),
            st.floats(1.0, 1e6),
            st.lists(st.floats(-0.06, 0.06), max_size=15),
        ),
        max_size=40,
    ),
    st.floats(0.01, 100.0),
)
def test_the_unit_of_the_level_does_not_matter(
    rows: list[tuple[Any, float, list[float]]], factor: float
) -> None:
    plain = [Series(target, level, tuple(changes)) for target, level, changes in rows]
    scaled = [Series(s.target, s.level * factor, s.changes) for s in plain]
    one, other = control_noise.judge(plain, LIMITS), control_noise.judge(scaled, LIMITS)
    assert one.noise == other.noise
    assert (one.drift is None) == (other.drift is None)
    if one.drift is not None and other.drift is not None:
        assert one.drift == pytest.approx(other.drift, rel=1e-6, abs=1e-9)
    if one.noise is not None:
        assert one.noise <= math.expm1(1.4826 * 0.06 / math.sqrt(2)) + 1e-9


def finished(track: Track, owner: User, variant: int, **report: Any) -> Run:
    submission = enter(owner, variant)
    for gate in submission.runs.filter(kind="correctness"):
        track.finish(gate)
    return track.finish(submission.runs.get(kind="performance"), ratios=[0.5] * 15, **report)


@pytest.mark.django_db
def test_a_noisy_machine_is_excluded_from_ranking_while_it_is_noisy(
    alice: User, track: Track, machine: Machine
) -> None:
    steady = finished(track, alice, 1, control_changes=[1.02, 0.98])
    assert steady.eligible
    noisy = finished(track, alice, 2, control_changes=[1.5, 0.6])
    machine.refresh_from_db()
    assert machine.noise is not None
    assert machine.noise > 0.10
    assert not noisy.eligible
    (reason,) = noisy.why_not
    excluded = f"the run's machine was excluded from ranking ({machine.why_excluded})"
    assert reason == f"{excluded}: repeat the run later"
    steady.refresh_from_db()
    assert steady.eligible, "a run that ended before the noise keeps its rank"

    for variant in (3, 4):
        last = finished(track, alice, variant, control_changes=[1.01, 0.99])
    machine.refresh_from_db()
    assert machine.why_excluded == ""
    assert last.eligible
    assert BoardEntry.objects.filter(run=last).exists()
    assert not BoardEntry.objects.filter(run=noisy).exists()


@pytest.mark.django_db
def test_short_series_and_gates_say_nothing_about_a_machine(
    alice: User, track: Track, machine: Machine
) -> None:
    run = finished(track, alice, 1)
    assert ControlSeries.objects.get().run == run, "gates do not run the control library"
    assert control_history.history(machine) == [
        Series(("sigmod2009", 1, "preliminary1", "paper"), 100.0, ())
    ]
    machine.refresh_from_db()
    assert (machine.noise, machine.drift, machine.why_excluded) == (None, None, "")
