"""Adds hidden instances to a contest, changes and removes them, and queues their runs.

A hidden instance is a benchmark instance with parameters of the organisers' own. Until it is published, contestants
know only its title. visibility.py decides who sees its runs, and hidden_board.py makes its board.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard import catalogue
from leaderboard.contests.hidden_board import rules_for
from leaderboard.contests.models import (
    Contest,
    Entry,
    HiddenInstance,
    PlayedIn,
    SeedPolicy,
)
from leaderboard.contests.organising import log, reason_given
from leaderboard.contests.standings import boards_of, contest_boards
from leaderboard.models import ACTIVE_STATES, Run, Submission
from leaderboard.queue import claims, wakeup
from leaderboard.queue.fairness import Priority
from leaderboard.services import MAX_SESSIONS, Refused
from leaderboard.submissions.new_runs import fresh_seeds, new_run
from results.counts import counted
from runner.manifest import Kind, RequestError, find_benchmark
from runner.terms import Scale
from runner.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from runner.manifest import Benchmark

TITLE_MAX = 80
_QUOTED_MAX = 60


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of a hidden instance that the contest's organisers may change later."""

    title: str
    counts: bool
    publish_at: datetime | None


@dataclass(frozen=True, slots=True)
class Secret:
    """The part of a hidden instance that never changes, since runs depend on it."""

    target: catalogue.Target
    scale: str
    parameters: Mapping[str, int]
    sessions: int
    seed_policy: SeedPolicy
    played_in: PlayedIn


def parse_parameters(text: str) -> dict[str, int]:
    """Return the parameters in a text with one `NAME = NUMBER` in each line. Raises Refused for any other text."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        name, equals, value = (part.strip() for part in line.partition("="))
        if not line.strip():
            continue
        if not equals or not name:
            raise Refused(
                [
                    (
                        f"line {number} of the parameters is {_quoted(line)}: write NAME = NUMBER, "
                        "for example threads = 8"
                    )
                ]
            )
        if name in found:
            raise Refused(
                [
                    (
                        f"line {number} of the parameters gives {_quoted(name)} a second value: "
                        "remove one of the two lines"
                    )
                ]
            )
        try:
            found[name] = int(value)
        except ValueError as error:
            raise Refused(
                [
                    (
                        f"line {number} of the parameters gives {_quoted(name)} the value {_quoted(value)}, "
                        "which is not a whole number: write NAME = NUMBER, for example threads = 8"
                    )
                ]
            ) from error
    return found


def _quoted(text: str) -> str:
    """Return the first characters of an organiser's text in quotes, for a message."""
    return repr(printable(text.strip())[:_QUOTED_MAX])


def _checked(secret: Secret) -> Benchmark:
    """Return the benchmark of a hidden instance. Raises Refused if the manifest does not allow the instance."""
    try:
        benchmark = find_benchmark(catalogue.benchmarks(), secret.target.benchmark)
        benchmark.resolve(secret.target.instance, Scale(secret.scale), secret.parameters)
    except RequestError as error:
        raise Refused([str(error)]) from error
    except ValueError as error:
        raise Refused(
            [f"unknown scale {secret.scale!r}: choose one of {', '.join(Scale)}"]
        ) from error
    if benchmark.kind is not Kind.PERFORMANCE or benchmark.metric is None:
        raise Refused(
            [f"{benchmark.name} tests correctness and measures no time: choose another benchmark"]
        )
    if benchmark.instance(secret.target.instance).trace:
        raise Refused(
            [
                (
                    f"{secret.target} plays a recorded trace, a file with the calls of a user's program, "
                    "and a contest has no such file: choose another instance"
                )
            ]
        )
    if not 1 <= secret.sessions <= MAX_SESSIONS:
        number = counted(secret.sessions, "session is", "sessions are")
        raise Refused([f"{number} not possible: choose 1 to {MAX_SESSIONS} sessions"])
    return benchmark


def _check_shown(contest: Contest, shown: Shown, pk: int | None = None) -> None:
    """Raise Refused if the title is empty, too long or taken by another instance than `pk`, or the date is too late."""
    title = " ".join(shown.title.split())
    if not title or len(title) > TITLE_MAX:
        length = counted(len(title), "character")
        raise Refused([f"the title has {length}: choose a title with 1 to {TITLE_MAX} characters"])
    others = contest.hidden_instances.filter(removed_at=None).exclude(pk=pk or 0)
    if others.filter(title__iexact=title).exists():
        raise Refused(
            ["another hidden instance of this contest has this title: choose another title"]
        )
    if shown.publish_at is not None and shown.publish_at > contest.results_at:
        raise Refused(
            [
                (
                    f"the date of the hidden instance, {shown.publish_at:%Y-%m-%d %H:%M} UTC, is after the results "
                    f"of the contest, {contest.results_at:%Y-%m-%d %H:%M} UTC: choose an earlier date, or none"
                )
            ]
        )


def add(contest: Contest, shown: Shown, secret: Secret, *, by: User) -> HiddenInstance:
    """Add a hidden instance. Raises Refused and writes nothing if the manifest or the contest does not allow it."""
    _check_shown(contest, shown)
    benchmark = _checked(secret)
    if secret.played_in is PlayedIn.FINALS and contest.closes_at == contest.results_at:
        raise Refused(
            [
                (
                    "the contest has no finals, because its uploads end at the time of its results: "
                    'choose "all phases" in the field "Played in"'
                )
            ]
        )
    boards = boards_of(contest)
    if not boards or benchmark.metric is None:
        raise Refused(
            [
                (
                    "a hidden instance takes its rules of ranking from the contest's boards, and the contest "
                    "has no board: choose boards for the contest first"
                )
            ]
        )
    common = secret.seed_policy is SeedPolicy.COMMON
    with transaction.atomic():
        hidden = HiddenInstance.objects.create(
            contest=contest,
            title=printable(" ".join(shown.title.split())),
            benchmark=secret.target.benchmark,
            instance=secret.target.instance,
            scale=secret.scale,
            parameters=dict(secret.parameters),
            sessions=secret.sessions,
            seed_policy=secret.seed_policy,
            seeds=fresh_seeds(secret.sessions) if common else [],
            played_in=secret.played_in,
            counts=shown.counts,
            publish_at=shown.publish_at,
            rules=rules_for(benchmark.name, benchmark.metric, secret.scale, boards),
        )
        values = ", ".join(f"{name} = {value}" for name, value in hidden.parameters.items())
        log(
            contest,
            by,
            f"added the hidden instance {hidden.title}: {secret.target} at {secret.scale} scale, "
            f"{values or 'no parameter changed'}",
        )
        transaction.on_commit(partial(wakeup.wake, wakeup.RESULTS))
    return hidden


def change(hidden: HiddenInstance, shown: Shown, reason: str, *, by: User) -> None:
    """Change the title of a hidden instance, when it becomes public, and whether it counts. Raises Refused."""
    why = reason_given(reason)
    _check_shown(hidden.contest, shown, hidden.pk)
    hidden.title = printable(" ".join(shown.title.split()))
    hidden.counts, hidden.publish_at = shown.counts, shown.publish_at
    with transaction.atomic():
        hidden.save(update_fields=["title", "counts", "publish_at"])
        date = f"{hidden.public_at:%Y-%m-%d %H:%M} UTC"
        counts = "counts" if hidden.counts else "does not count"
        counts = f"{counts} in the combined score"
        log(
            hidden.contest,
            by,
            f"changed the hidden instance {hidden.title}: public at {date}, {counts}",
            why,
        )


def remove(hidden: HiddenInstance, reason: str, *, by: User) -> None:
    """Take a hidden instance out of its contest, and cancel its open runs. Its runs stay secret.

    Raises Refused if the instance is public or removed already, or if there is no reason.
    """
    why = reason_given(reason)
    with transaction.atomic():
        now = timezone.now()
        alive = HiddenInstance.objects.filter(pk=hidden.pk, removed_at=None)
        if hidden.is_public and alive.exists():
            since = f"{hidden.public_at:%Y-%m-%d %H:%M} UTC"
            raise Refused(
                [f"the hidden instance has been public since {since}, so it cannot be removed"]
            )
        if not alive.update(removed_at=now):
            raise Refused(["the hidden instance is removed already: reload the page"])
        claims.cancel_waiting(hidden.runs.all())
        hidden.runs.filter(state__in=ACTIVE_STATES).update(cancel_requested_at=now)
        log(hidden.contest, by, f"removed the hidden instance {hidden.title}", why)


def queue_due_runs() -> list[Run]:
    """Queue the runs on hidden instances that are still missing, and return them. 1 SQL statement if none is due.

    An entry plays the hidden instances only after a board of the contest has ranked the entry, i.e. after it has passed
    the gates (required correctness tests). An instance of the finals is played only by the best entry of each team on
    each board. Several processes may call this at once.
    """
    now = timezone.now()
    due = HiddenInstance.objects.filter(
        Q(played_in=PlayedIn.ALL, contest__opens_at__lte=now)
        | Q(played_in=PlayedIn.FINALS, contest__closes_at__lte=now),
        removed_at=None,
        contest__results_at__gt=now,
    )
    queued = [run for pk in due.values_list("pk", flat=True) for run in _queue_missing(pk)]
    if queued:
        wakeup.wake(wakeup.BENCH)
    return queued


def _queue_missing(pk: int) -> list[Run]:
    with transaction.atomic():
        hidden = (
            HiddenInstance.objects.select_for_update(of=("self",))
            .select_related("contest")
            .get(pk=pk)
        )
        if catalogue.current_version(hidden.benchmark) is None:
            return []
        missing = Submission.objects.filter(pk__in=_players(hidden), deleted_at=None).exclude(
            pk__in=hidden.runs.values("submission_id")
        )
        return [
            run
            for submission in missing.order_by("pk")
            for run in claims.enqueue(submission.owner_id, [_run(hidden, submission)])
        ]


def _players(hidden: HiddenInstance) -> set[int]:
    """Return the ids of the submissions that play the instance now."""
    contest = hidden.contest
    if hidden.played_in == PlayedIn.ALL:
        ranked = Entry.objects.filter(
            contest=contest, disqualified_at=None, submission__runs__in=_ranked_runs(contest)
        )
        return set(ranked.values_list("submission_id", flat=True))
    best = {entry.run_id for board in contest_boards(contest, live=True) for _, entry in board.best}
    return set(Run.objects.filter(pk__in=best).values_list("submission_id", flat=True))


def _ranked_runs(contest: Contest) -> QuerySet[Run]:
    """Return the query for the runs that the contest's own boards accepted. Executes no SQL itself.

    Runs of older benchmark versions are included, because the boards may still show them.
    """
    wanted = Q(pk__in=[])
    for board in boards_of(contest):
        wanted |= Q(benchmark=board.benchmark, instance=board.instance)
    return Run.objects.filter(wanted).exclude(ranked_on=[])


def _run(hidden: HiddenInstance, submission: Submission) -> Run:
    return new_run(
        submission,
        catalogue.Target(hidden.benchmark, hidden.name),
        hidden.scale,
        hidden.sessions,
        priority=Priority.BATCH,
        wanted_class=hidden.contest.machine_class or settings.KEYDROME_MACHINE_CLASS,
        hidden=hidden,
    )
