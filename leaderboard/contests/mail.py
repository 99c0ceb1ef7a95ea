"""Sends the announcements of contests by email to subscribers. The results worker, a background process, does this.

A site without a mail server (KEYDROME_SENDS_MAIL) queues and sends nothing. A delivery is marked as sent before it is
sent. So if the worker dies in between, one user misses one email, but no user gets an email twice.
"""

from __future__ import annotations

import logging
from functools import partial
from smtplib import SMTPException
from typing import TYPE_CHECKING

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from leaderboard.contests.models import Contest, Delivery, Message, Subscription
from leaderboard.queue import wakeup
from runner.text import printable

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_log = logging.getLogger(__name__)
_SALT = "keydrome.contest.mail"  # separates these signatures from others of the site
BATCH = 100  # mails for each wake-up, so that the worker does its other work in between
TRIES_MAX = 3


def subscribe(contest: Contest, user: User) -> None:
    """Subscribe the user to the contest's announcements."""
    Subscription.objects.get_or_create(contest=contest, user=user)


def unsubscribe(contest: Contest, user_id: int) -> None:
    """Send the user no more announcements, not even those that are queued."""
    Subscription.objects.filter(contest=contest, user_id=user_id).delete()


def stop_token(subscription: Subscription) -> str:
    """Return the secret part of the link that ends a subscription without a log-in."""
    return signing.dumps([subscription.contest_id, subscription.user_id], salt=_SALT)


def subscriber_of(contest: Contest, token: str) -> int | None:
    """Return the id of the user whom a link's secret part names, or None if the part is not valid for this contest."""
    try:
        contest_id, user_id = signing.loads(token, salt=_SALT)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return int(user_id) if contest_id == contest.pk else None


def queue_mail(message: Message) -> int:
    """Queue the announcement for all subscribers; return how many. Call this in the transaction that publishes it."""
    if not settings.KEYDROME_SENDS_MAIL:
        return 0
    subscriptions = message.contest.subscriptions.filter(user__is_active=True).exclude(
        user__email=""
    )
    queued = Delivery.objects.bulk_create(
        Delivery(message=message, subscription=one) for one in subscriptions
    )
    if queued:
        transaction.on_commit(partial(wakeup.wake, wakeup.RESULTS))
    return len(queued)


def send_due_mail() -> int:
    """Send the queued mails; return how many were sent. 1 SQL statement if none is queued.

    Several processes may call this at the same time. A mail that the server refuses is tried again when the worker
    wakes up the next time, but at most TRIES_MAX times in all.
    """
    if not settings.KEYDROME_SENDS_MAIL:
        return 0
    due = list(
        Delivery.objects.filter(sent_at=None, tries__lt=TRIES_MAX)
        .select_related("message__contest", "subscription__user")
        .order_by("pk")[:BATCH]
    )
    if not due:
        return 0
    connection = get_connection()
    sent = 0
    for delivery in due:
        waiting = Delivery.objects.filter(pk=delivery.pk, sent_at=None, tries=delivery.tries)
        if not waiting.update(sent_at=timezone.now(), tries=F("tries") + 1):
            continue  # another process sends it
        mail = _mail(delivery)
        mail.connection = connection
        try:
            mail.send()
        except (SMTPException, OSError) as error:
            _log.warning(
                "an announcement of contest %s was not sent to one subscriber (email %d, try %d of %d): %s: "
                "check the mail server in KEYDROME_EMAIL_URL or, if the error names it, the subscriber's address",
                delivery.message.contest.slug,
                delivery.pk,
                delivery.tries + 1,
                TRIES_MAX,
                error,
            )
            Delivery.objects.filter(pk=delivery.pk).update(sent_at=None)
        else:
            sent += 1
    if len(due) == BATCH:
        wakeup.wake(wakeup.RESULTS)
    return sent


def _mail(delivery: Delivery) -> EmailMessage:
    """Return the announcement as plain text, since Markdown is readable as it is, with a link that ends the mails."""
    message, subscription = delivery.message, delivery.subscription
    contest = message.contest
    stop = f"{message.address}mail/{stop_token(subscription)}/"
    body = (
        f"{message.body.strip()}\n\n-- \n{_line(contest.name)}: {message.address}\n"
        f"You get this email because you subscribed to the announcements of this contest. To unsubscribe: {stop}\n"
    )
    return EmailMessage(
        subject=f"[Keydrome] {_line(contest.name)}: {_line(message.title)}",
        body=body,
        to=[subscription.user.email],
        # RFC 8058: mail programs show a button that ends the subscription.
        headers={
            "List-Unsubscribe": f"<{stop}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        },
    )


def _line(text: str) -> str:
    """Return a text as one line, so that it cannot add headers."""
    return printable(" ".join(text.split()))
