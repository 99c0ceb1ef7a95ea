"""Makes the data of tests of contests: a running contest, a team, users with a role in the contest, and browsers."""

from __future__ import annotations

import io
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from leaderboard.catalogue import Target
from leaderboard.contests import entries, hidden, teams
from leaderboard.contests.models import Contest, PlayedIn, Role, SeedPolicy, Team
from web.tests.fixtures import logged_in
from web.tests.world import PASSWORD, World

if TYPE_CHECKING:
    from datetime import datetime

    from leaderboard.contests.models import Entry, HiddenInstance

DAY = timedelta(days=1)
BOARDS = ["preliminary1", "preliminary2"]


def dates(**changes: int) -> dict[str, object]:
    """Return the dates of a contest that opened yesterday. `changes` are days from now."""
    days = {"opens_at": -1, "freezes_at": 5, "closes_at": 10, "results_at": 20, **changes}
    return {name: timezone.now() + count * DAY for name, count in days.items()}


def move(contest: Contest, **changes: int) -> None:
    """Change the dates of a contest, in days from now."""
    Contest.objects.filter(pk=contest.pk).update(**dates(**changes))
    contest.refresh_from_db()


@dataclass(frozen=True)
class Cup:
    """A contest with Alice's team Heron. Tim is Alice's team-mate, Bob a stranger, and Olga the site's organiser."""

    world: World
    contest: Contest
    heron: Team
    tim: User
    officials: dict[str, User]

    def browser(self, who: str) -> Client:
        """Return the browser of a visitor: anonymous, stranger, contestant, mate, staff, or the name of a role."""
        users = {
            "stranger": self.world.bob,
            "contestant": self.world.alice,
            "mate": self.tim,
            "staff": self.world.olga,
            **self.officials,
        }
        if who == "anonymous":
            return Client()
        return logged_in(users[who])

    def enter(
        self,
        team: Team | None = None,
        by: User | None = None,
        *,
        tag: bytes = b"",
        name: str = "art.so",
    ) -> Entry:
        """Submit a library to the contest. Each `tag` gives the file a different digest."""
        return entries.enter_new(
            team or self.heron,
            by=by or self.world.alice,
            file=io.BytesIO(self.world.library + tag),
            file_name=name,
            description="",
            configuration="",
        )


def add_hidden(
    cup: Cup,
    *,
    played_in: PlayedIn = PlayedIn.ALL,
    seed_policy: SeedPolicy = SeedPolicy.FRESH,
    publish_at: datetime | None = None,
    counts: bool = True,
    title: str = "The surprise",
    **changes: object,
) -> HiddenInstance:
    """Add a hidden instance, i.e. one with secret parameters, of the benchmark TATP to the contest.

    `changes` replace secret fields.
    """
    secret: dict[str, Any] = {
        "target": Target("tatp", "nonuniform"),
        "scale": "smoke",
        "parameters": {"threads": 7},
        "sessions": 3,
        "seed_policy": seed_policy,
        "played_in": played_in,
        **changes,
    }
    shown = hidden.Shown(title, counts, publish_at)
    return hidden.add(cup.contest, shown, hidden.Secret(**secret), by=cup.officials["owner"])


@pytest.fixture
def cup(world: World) -> Cup:
    """A published contest that opened yesterday."""
    contest = Contest.objects.create(
        slug="cup",
        name="Autumn Cup",
        summary="Build the fastest index.",
        rules="Be *fair*.",
        questions="## May I?\n\nYes.",
        boards=BOARDS,
        published=True,
        **dates(),
    )
    officials = {
        role.value: User.objects.create_user(f"the-{role.value}", password=PASSWORD)
        for role in Role
    }
    for role, user in officials.items():
        contest.officials.create(user=user, role=role)
    heron = teams.create(contest, "Heron", by=world.alice)
    tim = User.objects.create_user("tim", password=PASSWORD)
    teams.join(heron, tim)
    return Cup(world, contest, heron, tim, officials)
