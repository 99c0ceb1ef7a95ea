"""Defines the tables of contests: contests, teams, entries, the people who run a contest, and its audit log.

teams.py, entries.py and organising.py write these rows. standings.py and visibility.py read them. Times are UTC.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils import timezone

from leaderboard.models import Submission

if TYPE_CHECKING:
    from datetime import datetime

TEAM_NAME_MAX = 50
REASON_MAX = 500
NOTE_MAX = 1000


class Phase(models.TextChoices):
    """The phases of a contest, in their order.

    In the phases open and frozen, teams upload. In the phases frozen and finals, the public boards show the state at
    the freeze. In the phase closed, everyone sees everything.
    """

    UPCOMING = "upcoming", "not open yet"
    OPEN = "open", "open"
    FROZEN = "frozen", "frozen boards"
    FINALS = "finals", "finals"
    CLOSED = "closed", "closed"


class Admission(models.TextChoices):
    """The users that may enter a contest."""

    ANYONE = "anyone", "everyone with an account"
    GUESTS = "guests", "only users whom the organisers have named"


class Contest(models.Model):
    """A contest: its dates, boards, rules, and who may enter.

    `boards` has slugs of the site's boards. The four dates are in ascending order; equal dates leave a phase out.
    """

    slug = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=100)
    summary = models.CharField(max_length=200, blank=True)
    rules = models.TextField(blank=True, help_text="Markdown")
    questions = models.TextField(blank=True, help_text="Markdown")
    boards = models.JSONField(default=list)
    machine_class = models.CharField(
        max_length=100,
        blank=True,
        help_text="the machine class whose results count; empty: the class that has played most runs",
    )
    opens_at = models.DateTimeField()
    freezes_at = models.DateTimeField()
    closes_at = models.DateTimeField()
    results_at = models.DateTimeField()
    published = models.BooleanField(
        default=False,
        help_text="whether everybody sees the contest; otherwise only its organisers do",
    )
    runs_private = models.BooleanField(
        default=False,
        help_text="until the results are published, only the team itself sees its runs",
    )
    wants_source = models.BooleanField(
        default=False, help_text="teams hand in the source code of their entries for the finals"
    )
    admission = models.CharField(max_length=10, choices=Admission.choices, default=Admission.ANYONE)
    guests = models.ManyToManyField(
        settings.AUTH_USER_MODEL, blank=True, related_name="contests_as_guest"
    )
    sign_up_closed = models.BooleanField(default=False)
    team_size = models.PositiveSmallIntegerField(default=5)
    quota_open = models.PositiveIntegerField(default=100)
    quota_frozen = models.PositiveIntegerField(default=20)

    class Meta:
        ordering: ClassVar = ["-opens_at", "-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(opens_at__lte=F("freezes_at"))
                & Q(freezes_at__lte=F("closes_at"))
                & Q(closes_at__lte=F("results_at")),
                name="contest_dates_in_order",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def phase_at(self, moment: datetime) -> Phase:
        """Return the phase at this moment. A phase begins exactly at its date."""
        if moment < self.opens_at:
            return Phase.UPCOMING
        if moment < self.freezes_at:
            return Phase.OPEN
        if moment < self.closes_at:
            return Phase.FROZEN
        return Phase.FINALS if moment < self.results_at else Phase.CLOSED

    @property
    def phase(self) -> Phase:
        """Return the present phase."""
        return self.phase_at(timezone.now())

    @property
    def accepts_uploads(self) -> bool:
        """Return True in the phases in which teams upload."""
        return self.phase in {Phase.OPEN, Phase.FROZEN}

    @property
    def is_frozen(self) -> bool:
        """Return True if the public boards show the state at the freeze."""
        return self.phase in {Phase.FROZEN, Phase.FINALS}

    @property
    def quota(self) -> int:
        """Return how many submissions a team may make in 24 hours in this phase."""
        return self.quota_open if self.phase is Phase.OPEN else self.quota_frozen


class Role(models.TextChoices):
    """What a person may do in a contest; organising.py lists the rights of each role."""

    OWNER = "owner", "owner"
    ORGANISER = "organiser", "organiser"
    JURY = "jury", "jury"
    OBSERVER = "observer", "observer"


class Official(models.Model):
    """A person with a role in a contest."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="officials")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="contest_roles"
    )
    role = models.CharField(max_length=10, choices=Role.choices)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["contest", "user"], name="one_role_per_contest"),
        ]

    def __str__(self) -> str:
        return f"user {self.user_id} as {self.role} in contest {self.contest_id}"


def new_token() -> str:
    """Return the secret part of a team's invitation link: 192 random bits."""
    return secrets.token_urlsafe(24)


class Team(models.Model):
    """A team. `number` counts the teams of a contest. An anonymous team is shown by its number."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="teams")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=TEAM_NAME_MAX)
    anonymous = models.BooleanField(
        default=False,
        help_text="until the results are published, other teams see neither the name nor the runs of this team",
    )
    token = models.CharField(max_length=40, unique=True, default=new_token)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["contest", "number"], name="one_team_per_number"),
            models.UniqueConstraint(Lower("name"), "contest", name="one_team_per_name"),
        ]
        # The index finds the teams that a page of the list shows, newest first.
        indexes: ClassVar = [models.Index(fields=["contest", "-id"], name="team_pages")]

    def __str__(self) -> str:
        return f"team {self.number} of contest {self.contest_id}"

    def shown_name(self, *, insider: bool) -> str:
        """Return the name that a visitor sees. An insider belongs to the team or runs the contest."""
        hidden = self.anonymous and not insider and self.contest.phase is not Phase.CLOSED
        return f"Anonymous team {self.number}" if hidden else self.name


class Member(models.Model):
    """A user's membership of a team. A user is in at most one team of each contest."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="members")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="contest_members"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["contest", "user"], name="one_team_per_user"),
        ]

    def __str__(self) -> str:
        return f"user {self.user_id} in team {self.team_id}"


class Invitation(models.Model):
    """An invitation of a user to a team. It is deleted when the user accepts or declines it."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="contest_invitations"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "user"], name="one_invitation_per_team"),
        ]

    def __str__(self) -> str:
        return f"invitation of user {self.user_id} to team {self.team_id}"


class PlayedIn(models.TextChoices):
    """The phases in which entries play a hidden instance."""

    ALL = "all", "all phases: every ranked entry plays this instance"
    FINALS = "finals", "the finals: the best entries of each team play this instance"


class SeedPolicy(models.TextChoices):
    """How the runs on a hidden instance get their seeds, which stay secret."""

    FRESH = "fresh", "fresh seeds for each run"
    COMMON = "common", "the same seeds for all entries"


class HiddenInstance(models.Model):
    """An instance of a benchmark whose parameters only the officials of a contest know. hidden.py writes these rows.

    Its runs refer to this row, and store `name` as their instance. No manifest contains that name, so only the board of
    the hidden instance ranks these runs. `rules` contains this board's other rules, such as its gates
    (hidden_board.py). Everything but the title is secret until `publish_at`, and at the latest until the results. A
    removed instance stays secret.
    """

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="hidden_instances")
    title = models.CharField(max_length=80)
    benchmark = models.CharField(max_length=64)
    instance = models.CharField(
        max_length=64,
        help_text="the benchmark instance whose parameters the hidden instance replaces",
    )
    scale = models.CharField(max_length=10)
    parameters = models.JSONField(
        default=dict, help_text="the values that replace parameters of the instance"
    )
    sessions = models.PositiveSmallIntegerField()
    seed_policy = models.CharField(max_length=10, choices=SeedPolicy.choices)
    seeds = models.JSONField(
        default=list, help_text="the seeds that all entries share; empty if each run has its own"
    )
    played_in = models.CharField(max_length=10, choices=PlayedIn.choices)
    counts = models.BooleanField(
        default=True, help_text="whether the combined score counts the hidden instance"
    )
    publish_at = models.DateTimeField(null=True, blank=True)
    rules = models.JSONField(default=dict)
    added_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"hidden instance {self.pk} of contest {self.contest_id}"

    @property
    def name(self) -> str:
        """Return the name of the instance in the columns of its runs. No manifest has such a name."""
        return f"hidden_{self.pk}"

    @property
    def slug(self) -> str:
        """Return the slug of its board."""
        return f"hidden-{self.pk}"

    @property
    def public_at(self) -> datetime:
        """Return when everything about it becomes public. Needs the contest loaded."""
        results_at = self.contest.results_at
        return min(self.publish_at, results_at) if self.publish_at else results_at

    @property
    def is_public(self) -> bool:
        """Return True if everyone may see its parameters and its board. Needs the contest loaded."""
        return self.removed_at is None and self.public_at <= timezone.now()


class Entry(models.Model):
    """A submission that a team has entered in a contest."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="entries")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="entries")
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="contest_entries"
    )
    entered_at = models.DateTimeField(auto_now_add=True)
    disqualified_at = models.DateTimeField(null=True, blank=True)
    disqualified_because = models.CharField(max_length=REASON_MAX, blank=True)

    class Meta:
        verbose_name_plural = "entries"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["contest", "submission"], name="entered_once"),
        ]
        # The index finds the entries that a page of the overview shows, newest first.
        indexes: ClassVar = [models.Index(fields=["contest", "-id"], name="entry_pages")]

    def __str__(self) -> str:
        return f"submission {self.submission_id} in contest {self.contest_id}"


class Source(models.Model):
    """The source code of an entry, as an archive. sources.py stores it; a view sends it to owner and jury only."""

    entry = models.OneToOneField(Entry, on_delete=models.CASCADE, related_name="source")
    file = models.FileField(max_length=200)
    file_name = models.CharField(
        max_length=100, help_text="name of the uploaded file; only shown, never used as a path"
    )
    sha256 = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    handed_in_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"source of entry {self.entry_id}"


class Note(models.Model):
    """A private note of the organisers about an entry."""

    entry = models.ForeignKey(Entry, on_delete=models.CASCADE, related_name="notes")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="contest_notes"
    )
    text = models.CharField(max_length=NOTE_MAX)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"note {self.pk} about entry {self.entry_id}"


class Notice(models.Model):
    """A message to a contestant about something that the organisers did."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="notices")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="contest_notices"
    )
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"notice {self.pk} to user {self.user_id}"


class LogLine(models.Model):
    """A line of a contest's audit log: who did what to what, and why. Lines are never changed or deleted."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="log")
    by = models.CharField(
        max_length=170,
        help_text="name and role of the official at the time of the action; kept if the account is deleted",
    )
    action = models.CharField(max_length=300)
    reason = models.CharField(max_length=REASON_MAX, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        # The index finds the lines that a page of the audit log shows, newest first.
        indexes: ClassVar = [models.Index(fields=["contest", "-id"], name="log_pages")]

    def __str__(self) -> str:
        return f"{self.by}: {self.action}"


class Result(models.Model):
    """The stored result of a finished contest. Later changes of runs do not change it. results.py writes these rows.

    The version with the largest number counts. A decision of the jury after the end makes a further version.
    """

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="results")
    version = models.PositiveIntegerField()
    reason = models.CharField(
        max_length=REASON_MAX,
        blank=True,
        help_text="why this version of the result replaces the earlier one",
    )
    content = models.JSONField(help_text="the result as JSON; contests/results.py describes it")
    stored_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["contest", "version"], name="one_result_per_version"),
        ]

    def __str__(self) -> str:
        return f"result {self.version} of contest {self.contest_id}"


class Message(models.Model):
    """An announcement of a contest. The body is Markdown, which the page sanitises."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="messages")
    title = models.CharField(max_length=200)
    body = models.TextField()
    address = models.CharField(
        max_length=300,
        blank=True,
        help_text="the address of the contest's page, for links in mails",
    )
    published_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return self.title


class Subscription(models.Model):
    """A user's subscription to the announcements of a contest by email."""

    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="subscriptions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="contest_subscriptions"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["contest", "user"], name="one_subscription"),
        ]

    def __str__(self) -> str:
        return f"user {self.user_id} follows contest {self.contest_id}"


class Delivery(models.Model):
    """An announcement for one subscriber, sent or still to send. mail.py writes these rows."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="deliveries")
    subscription = models.ForeignKey(
        Subscription, on_delete=models.CASCADE, related_name="deliveries"
    )
    sent_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["id"], name="delivery_due", condition=Q(sent_at=None)),
        ]

    def __str__(self) -> str:
        return f"message {self.message_id} for subscription {self.subscription_id}"
