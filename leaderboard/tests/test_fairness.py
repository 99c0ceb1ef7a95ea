"""Tests the order of the queue: first that of the pure function `virtual_times`, then that of runs in the database.

Runs are ordered by priority, then by virtual time, which shares the machines fairly among users (queue/fairness.py).
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from leaderboard import services
from leaderboard.models import Machine, Run, Share, State
from leaderboard.queue import claims
from leaderboard.queue.fairness import Place, Priority, virtual_times
from leaderboard.submissions import reruns
from leaderboard.tests.conftest import PRELIMINARY1, PRELIMINARY2, Track, enter
from leaderboard.tests.test_record import timed

COST_MAX = 20


@dataclass
class Queue:
    """A queue in memory that orders and claims runs as queue/claims.py does in the database."""

    clock: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    finish: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    waiting: dict[Place, tuple[int, int]] = field(default_factory=dict)  # owner and cost
    made: int = 0

    def submit(self, owner: int, priority: int, costs: list[int]) -> None:
        times, self.finish[owner, priority] = virtual_times(
            self.clock[priority], self.finish[owner, priority], costs
        )
        for time, cost in zip(times, costs, strict=True):
            self.made += 1
            self.waiting[Place(priority, time, self.made)] = (owner, cost)

    def claim(self) -> tuple[Place, int, int] | None:
        if not self.waiting:
            return None
        place = min(self.waiting)
        owner, cost = self.waiting.pop(place)
        self.clock[place.priority] = max(self.clock[place.priority], place.virtual_time)
        return place, owner, cost

    def backlogged(self, priority: int) -> set[int]:
        return {o for place, (o, _) in self.waiting.items() if place.priority == priority}


submissions = st.tuples(
    st.integers(0, 3),  # owner
    st.sampled_from(list(Priority)),
    st.lists(st.integers(1, COST_MAX), min_size=1, max_size=8),
)
steps = st.lists(st.one_of(submissions, st.none()), max_size=60)  # None stands for a claim


@given(steps)
def test_a_lower_class_never_runs_while_a_higher_waits(
    story: list[tuple[int, int, list[int]] | None],
) -> None:
    queue = Queue()
    for step in story:
        if step is not None:
            queue.submit(*step)
        elif (claimed := queue.claim()) is not None:
            assert all(place > claimed[0] for place in queue.waiting)
            assert not any(place.priority < claimed[0].priority for place in queue.waiting)


@given(steps)
def test_one_users_runs_start_in_their_order(
    story: list[tuple[int, int, list[int]] | None],
) -> None:
    queue = Queue()
    last: dict[tuple[int, int], int] = {}
    for step in [*story, *[None] * 500]:
        if step is not None:
            queue.submit(*step)
        elif (claimed := queue.claim()) is not None:
            place, owner, _ = claimed
            assert place.run_id > last.get((owner, place.priority), 0)
            last[owner, place.priority] = place.run_id
    assert not queue.waiting


@given(steps)
def test_two_waiting_users_get_equal_machine_time_within_one_run_of_each(
    story: list[tuple[int, int, list[int]] | None],
) -> None:
    """While both users always have runs waiting, their machine times differ by at most the sum of one run of each.

    This is the bound of start-time fair queueing (queue/fairness.py).
    """
    queue = Queue()
    # `served` has an item for each pair of users who both have runs waiting. Its value is the machine time of the first
    # user minus that of the second, counted from the step at which both began to wait.
    served: dict[tuple[int, int], int] = {}
    low: dict[tuple[int, int], int] = {}
    high: dict[tuple[int, int], int] = {}
    for step in [*story, *[None] * 200]:
        if step is not None:
            queue.submit(step[0], Priority.CONTEST, step[2])
            claimed = None
        else:
            claimed = queue.claim()
        waiting = queue.backlogged(Priority.CONTEST)
        for pair in [(a, b) for a in range(4) for b in range(a + 1, 4)]:
            if not set(pair) <= waiting:
                served.pop(pair, None)
                continue
            if pair not in served:
                served[pair] = low[pair] = high[pair] = 0
            elif claimed is not None and claimed[1] in pair:
                served[pair] += claimed[2] if claimed[1] == pair[0] else -claimed[2]
            low[pair] = min(low[pair], served[pair])
            high[pair] = max(high[pair], served[pair])
            assert high[pair] - low[pair] <= 2 * COST_MAX


@given(
    st.lists(st.integers(1, 100), min_size=1, max_size=6),
    st.integers(0, 50),
    st.lists(st.integers(1, COST_MAX), min_size=1, max_size=5),
)
def test_a_newcomer_starts_after_at_most_one_run_of_every_other_user(
    crowds: list[int], claimed: int, costs: list[int]
) -> None:
    queue = Queue()
    for owner, count in enumerate(crowds):
        for _ in range(count):
            queue.submit(owner, Priority.CONTEST, costs)
    for _ in range(claimed):
        queue.claim()
    queue.submit(99, Priority.CONTEST, [1])
    ahead = 0
    while (found := queue.claim()) is not None and found[1] != 99:
        ahead += 1
    assert found is not None
    assert ahead <= len(crowds)


def drain(machine: Machine, at_most: int = 100) -> list[Run]:
    """Claim at most `at_most` waiting runs, and end each at once. Return the runs in the order of the claims."""
    order: list[Run] = []
    while len(order) < at_most and (run := claims.claim(claims.Slot(machine, 0))) is not None:
        order.append(run)
        assert services.give_up(run.pk, run.attempt, "enough")
    return order


@pytest.mark.django_db
def test_a_hundred_submissions_do_not_starve_another_users_first(
    alice: User, bob: User, machine: Machine
) -> None:
    for variant in range(100):
        enter(bob, variant, sessions=1)
    assert len(drain(machine, 30)) == 30
    mine = enter(alice, 1000, sessions=1)
    order = [run.submission_id for run in drain(machine, 8)]
    assert order.count(mine.pk) == mine.runs.count() == 3
    assert order.index(mine.pk) <= 1


@pytest.mark.django_db
def test_submissions_run_before_single_re_runs_and_those_before_a_batch(
    alice: User, bob: User, track: Track, repository: Any
) -> None:
    old = enter(alice)
    for run in old.runs.order_by("id"):
        track.finish(run, ratios=[0.5] * run.sessions)
    repository.set_version("sigmod2009", 2)
    (batch,) = reruns.rerun_stale()
    single = reruns.rerun(old.runs.get(benchmark="phantom"), by=alice)
    fresh = enter(bob, 1)
    order = [run.pk for run in drain(track.machine)]
    assert order == [*fresh.runs.order_by("id").values_list("pk", flat=True), single.pk, batch.pk]


@pytest.mark.django_db
def test_a_re_run_is_queued_once_and_by_its_owner_only(
    alice: User, bob: User, track: Track
) -> None:
    run = timed(enter(alice))
    with pytest.raises(services.Refused, match="has not ended yet"):
        reruns.rerun(run, by=alice)
    track.finish(run)
    with pytest.raises(PermissionDenied):
        reruns.rerun(run, by=bob)
    again = reruns.rerun(run, by=alice)
    assert (again.state, again.instance, again.sessions) == (State.QUEUED, run.instance, 15)
    assert again.seeds != run.seeds
    with pytest.raises(services.Refused, match="queued or running already"):
        reruns.rerun(run, by=alice)


@pytest.mark.django_db
def test_a_run_whose_benchmark_or_file_is_gone_cannot_be_repeated(
    alice: User, organiser: User, track: Track
) -> None:
    submission = enter(alice)
    run = track.finish(timed(submission))
    gate = track.finish(submission.runs.get(benchmark="unit"))
    run.instance = "preliminary9"
    with pytest.raises(
        services.Refused,
        match="no longer has the instance 'preliminary9': submit the file again and choose another",
    ):
        reruns.rerun(run, by=alice)
    run.benchmark = "sigmod2010"
    with pytest.raises(services.Refused, match="the benchmark sigmod2010 no longer exists"):
        reruns.rerun(run, by=alice)
    gate.benchmark = "units"
    with pytest.raises(services.Refused, match="exists: submit the file again, which queues"):
        reruns.rerun(gate, by=alice)
    gate.submission.deleted_at = timezone.now()
    with pytest.raises(services.Refused, match="only the owner can submit the file again"):
        reruns.rerun(gate, by=organiser)


@pytest.mark.django_db
def test_what_was_cancelled_while_it_waited_costs_its_owner_nothing(
    alice: User, bob: User, machine: Machine
) -> None:
    mistakes = [enter(alice, number, targets=(PRELIMINARY1, PRELIMINARY2)) for number in range(5)]
    for submission in mistakes:
        assert services.withdraw(submission, by=alice)
    assert Share.objects.get(user=alice).finish == 0
    enter(bob, 10)
    mine = enter(alice, 11)
    with transaction.atomic():
        assert claims.cancel_waiting(mine.runs.filter(benchmark="unit")) == 1
        assert claims.cancel_waiting(mine.runs.filter(benchmark="unit")) == 0
    owners = [run.submission.owner.username for run in drain(machine)]
    assert owners == ["bob", "alice", "bob", "bob", "alice"]


@pytest.mark.django_db
def test_a_run_tried_again_keeps_its_place_and_does_not_hold_the_clock_back(
    alice: User, bob: User, machine: Machine
) -> None:
    slot = claims.Slot(machine, 0)
    enter(alice, sessions=1)
    enter(alice, 1, sessions=1)
    lost = claims.claim(slot)
    assert lost is not None
    assert claims.requeue(lost.pk, lost.attempt)
    Run.objects.filter(pk=lost.pk).update(not_before=None)
    again = claims.claim(slot)
    assert again is not None
    assert again.pk == lost.pk
    assert services.give_up(again.pk, again.attempt, "enough")
    for _ in range(3):
        run = claims.claim(slot)
        assert run is not None
        assert services.give_up(run.pk, run.attempt, "enough")
    newcomer = enter(bob, 2)
    first = newcomer.runs.order_by("id").first()
    assert first is not None
    assert first.virtual_time == 3
