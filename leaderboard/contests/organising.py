"""Says who may do what in a contest, and carries out what its officials, the users with a role in it, do.

Actions that a contestant may question need a reason. Actions on an entry, except notes, notify the team. Every action
adds a line to the audit log.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.contests.mail import queue_mail
from leaderboard.contests.models import (
    NOTE_MAX,
    REASON_MAX,
    Contest,
    Entry,
    LogLine,
    Message,
    Note,
    Notice,
    Official,
    Role,
)
from leaderboard.contests.results import correct
from leaderboard.services import Refused
from leaderboard.submissions.reruns import repeat
from results.counts import counted
from runner.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leaderboard.models import Run
    from leaderboard.viewer import Viewer


class Right(Enum):
    """What an official may do."""

    SEE = "see the overview, all runs and the audit log"
    JUDGE = "disqualify, restore, re-run, write notes"
    ORGANISE = "change the contest, close the sign-up, announce"
    APPOINT = "grant and revoke roles"


RIGHTS = {
    Role.OBSERVER: frozenset({Right.SEE}),
    Role.JURY: frozenset({Right.SEE, Right.JUDGE}),
    Role.ORGANISER: frozenset({Right.SEE, Right.JUDGE, Right.ORGANISE}),
    Role.OWNER: frozenset(Right),
}


def rights(contest: Contest, viewer: Viewer) -> frozenset[Right]:
    """Return the viewer's rights in a contest. 1 SQL statement, or none if the viewer is not logged in.

    Organisers of the site have all rights. An organiser of the site who is in a team of this contest has none.
    """
    if not viewer.is_authenticated:
        return frozenset()
    if viewer.is_staff:
        contestant = contest.members.filter(user_id=viewer.pk).exists()
        return frozenset() if contestant else frozenset(Right)
    official = contest.officials.filter(user_id=viewer.pk).first()
    return RIGHTS[Role(official.role)] if official else frozenset()


def log(contest: Contest, by: User, action: str, reason: str = "") -> None:
    """Add a line to the audit log."""
    official = contest.officials.filter(user=by).first()
    role = official.role if official else "organiser of the site"
    LogLine.objects.create(
        contest=contest, by=f"{by.get_username()} ({role})", action=action[:300], reason=reason
    )


def reason_given(text: str) -> str:
    """Return a reason as one line. Raises Refused if it is missing or too long."""
    reason = printable(" ".join(text.split()))
    if not reason or len(reason) > REASON_MAX:
        length = counted(len(reason), "character")
        raise Refused([f"the reason has {length}: give a reason with 1 to {REASON_MAX} characters"])
    return reason


def _name(entry: Entry) -> str:
    return f"submission {entry.submission_id} of team {entry.team.name}"


def tell_team(entry: Entry, text: str) -> None:
    """Give each member of the team a notice and, if the site sends mail, an email."""
    members = list(User.objects.filter(contest_members__team=entry.team))
    Notice.objects.bulk_create(
        Notice(contest=entry.contest, user=member, text=text) for member in members
    )
    addresses = [member.email for member in members if member.email]
    if settings.KEYDROME_SENDS_MAIL and addresses:
        subject = f"[Keydrome] {entry.contest.name}"

        def send() -> None:
            for address in addresses:
                send_mail(subject, text, None, [address], fail_silently=True)

        transaction.on_commit(send)


def disqualify(entry: Entry, reason: str, *, by: User) -> None:
    """Take an entry off the boards of its contest. The site's other boards keep it."""
    why = reason_given(reason)
    with transaction.atomic():
        changed = Entry.objects.filter(pk=entry.pk, disqualified_at=None).update(
            disqualified_at=timezone.now(), disqualified_because=why
        )
        if not changed:
            raise Refused(
                ["the entry is disqualified already, so the site changed nothing: reload the page"]
            )
        log(entry.contest, by, f"disqualified {_name(entry)}", why)
        correct(entry.contest, why)
        tell_team(
            entry,
            f"The jury of {entry.contest.name} disqualified your submission {entry.submission_id}, so the submission "
            f"no longer counts in this contest. Reason: {why}",
        )


def restore(entry: Entry, reason: str, *, by: User) -> None:
    """Restore a disqualified entry."""
    why = reason_given(reason)
    with transaction.atomic():
        changed = Entry.objects.filter(pk=entry.pk, disqualified_at__isnull=False).update(
            disqualified_at=None, disqualified_because=""
        )
        if not changed:
            raise Refused(
                ["the entry is not disqualified, so it cannot be restored: reload the page"]
            )
        log(entry.contest, by, f"restored {_name(entry)}", why)
        correct(entry.contest, why)
        tell_team(
            entry,
            f"The jury of {entry.contest.name} restored your submission {entry.submission_id}, so the submission "
            f"counts in this contest again. Reason: {why}",
        )


def rerun(contest: Contest, entries: Iterable[Entry], reason: str, *, by: User) -> int:
    """Queue again the newest timed run of each entry on each instance. Return the number of queued runs.

    Runs that cannot be repeated, for example because they have not ended, are left out.
    """
    why = reason_given(reason)
    count = 0
    with transaction.atomic():
        for entry in entries:
            queued = 0
            for run in _newest_timed(entry):
                try:
                    with transaction.atomic():
                        repeat(run)
                except Refused:
                    continue
                queued += 1
            if queued:
                count += queued
                runs = counted(queued, "run")
                log(contest, by, f"queued {runs} of {_name(entry)} again", why)
                tell_team(
                    entry,
                    f"The jury of {contest.name} queued {runs} of your submission {entry.submission_id} again. "
                    f"Reason: {why}",
                )
    return count


def _newest_timed(entry: Entry) -> list[Run]:
    """Return the newest timed run of the entry on each benchmark instance. 1 SQL statement.

    Runs on hidden instances (benchmark instances with secret parameters) of other contests are left out.
    """
    runs = entry.submission.runs.filter(
        Q(hidden=None) | Q(hidden__contest=entry.contest_id, hidden__removed_at=None),
        kind="performance",
        verified=False,
    )
    loaded = runs.select_related("submission", "machine", "hidden").order_by("pk")
    newest = {(run.benchmark, run.instance): run for run in loaded}
    return list(newest.values())


def add_note(entry: Entry, text: str, *, by: User) -> None:
    """Add a private note about an entry, which only officials see."""
    note = text.strip()
    if not note or len(note) > NOTE_MAX:
        length = counted(len(note), "character")
        raise Refused([f"the note has {length}: write a note with 1 to {NOTE_MAX} characters"])
    with transaction.atomic():
        Note.objects.create(entry=entry, author=by, text=note)
        log(entry.contest, by, f"wrote a note about {_name(entry)}")


def set_sign_up(contest: Contest, reason: str, *, closed: bool, by: User) -> None:
    """Close or reopen the sign-up."""
    why = reason_given(reason)
    with transaction.atomic():
        Contest.objects.filter(pk=contest.pk).update(sign_up_closed=closed)
        log(contest, by, "closed the sign-up" if closed else "reopened the sign-up", why)


def announce(contest: Contest, title: str, body: str, *, by: User, address: str = "") -> Message:
    """Publish an announcement, and queue it for the subscribers. `address` is the URL of the contest's front page."""
    with transaction.atomic():
        message = Message.objects.create(contest=contest, title=title, body=body, address=address)
        queue_mail(message)
        log(contest, by, f"announced: {title}")
    return message


def appoint(contest: Contest, user: User, role: str, *, by: User) -> None:
    """Grant a role to a user, or revoke the user's role if `role` is empty.

    Raises Refused if the contest would lose its last owner, or if the user is in a team, because officials see all
    runs.
    """
    with transaction.atomic():
        Contest.objects.select_for_update().get(pk=contest.pk)
        if role and contest.members.filter(user=user).exists():
            raise Refused(
                [
                    (
                        f"{user.get_username()} is in a team of this contest, and contestants cannot have a role, "
                        "because users with a role see all runs: choose another user"
                    )
                ]
            )
        owners = contest.officials.filter(role=Role.OWNER)
        if role != Role.OWNER and list(owners.values_list("user_id", flat=True)) == [user.pk]:
            raise Refused(
                [
                    (
                        f"{user.get_username()} is the only owner of this contest, and a contest needs an owner: "
                        "appoint another owner first"
                    )
                ]
            )
        if role:
            Official.objects.update_or_create(
                contest=contest, user=user, defaults={"role": Role(role)}
            )
            log(contest, by, f"gave {user.get_username()} the role {Role(role).label}")
        else:
            Official.objects.filter(contest=contest, user=user).delete()
            log(contest, by, f"revoked the role of {user.get_username()}")
