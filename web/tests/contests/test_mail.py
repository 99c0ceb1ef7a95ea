"""Tests the emails with a contest's announcements: who gets them, who does not, and how a subscription ends."""

from __future__ import annotations

import re
from smtplib import SMTPException
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.test import Client

from leaderboard.contests import organising
from leaderboard.contests.mail import send_due_mail, stop_token, subscribe
from leaderboard.contests.models import Contest, Delivery, Subscription
from leaderboard.tasks import wake_up
from web.tests.fixtures import logged_in

if TYPE_CHECKING:
    from pytest_django import DjangoAssertNumQueries
    from pytest_django.fixtures import Settings

    from web.tests.contests.cups import Cup

pytestmark = pytest.mark.django_db

CUP = "/contests/cup/"
OFFER = "Get announcements by email"


@pytest.fixture(autouse=True)
def _mail_server(settings: Settings, cup: Cup) -> None:
    """Let the site send mail. Alice and Bob have an address, Tim has none."""
    settings.KEYDROME_SENDS_MAIL = True
    for user in (cup.world.alice, cup.world.bob):
        user.email = f"{user.username}@example.org"
        user.save()


def announce(cup: Cup, title: str = "Day & night") -> None:
    """Publish an announcement in the browser of the contest's organiser, after its preview."""
    browser = cup.browser("organiser")
    data = {"title": title, "body": "The machine is *quiet*."}
    assert b"Publish" in browser.post(f"{CUP}organise/announce/", data).content
    browser.post(f"{CUP}organise/announce/", {**data, "publish": "1"})


def test_only_users_who_asked_for_it_get_a_mail(cup: Cup) -> None:
    browser = logged_in(cup.world.alice)
    assert OFFER in browser.get(CUP).content.decode()
    browser.post(f"{CUP}mail/", {"on": "1"})
    assert OFFER not in browser.get(CUP).content.decode()
    announce(cup)
    assert mail.outbox == []  # a background process sends it, the results worker
    wake_up("results")
    (sent,) = mail.outbox
    assert sent.to == ["alice@example.org"]
    assert sent.subject == "[Keydrome] Autumn Cup: Day & night"
    assert "The machine is *quiet*." in sent.body
    assert "http://testserver/contests/cup/" in sent.body
    wake_up("results")
    assert len(mail.outbox) == 1


def test_the_preview_sends_nothing_and_says_how_many_will_get_it(cup: Cup) -> None:
    subscribe(cup.contest, cup.world.alice)
    page = cup.browser("organiser").post(f"{CUP}organise/announce/", {"title": "x", "body": "y"})
    assert "1 user gets it by email." in page.content.decode()
    assert not Delivery.objects.exists()


def test_the_link_in_the_mail_ends_the_mails_without_a_log_in(cup: Cup) -> None:
    subscribe(cup.contest, cup.world.alice)
    announce(cup)
    send_due_mail()
    (sent,) = mail.outbox
    (link,) = re.findall(r"To unsubscribe: http://testserver(\S+)", str(sent.body))
    assert sent.extra_headers["List-Unsubscribe"] == f"<http://testserver{link}>"
    program = Client(enforce_csrf_checks=True)  # a mail program has no token
    assert "Stop these emails" in program.get(link).content.decode()
    assert Subscription.objects.exists()  # following the link (GET) ends nothing
    assert program.post(link, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert not Subscription.objects.exists()
    assert program.post(link).status_code == 200
    announce(cup, "second")
    send_due_mail()
    assert len(mail.outbox) == 1


def test_a_link_ends_only_its_own_subscription(cup: Cup) -> None:
    subscribe(cup.contest, cup.world.alice)
    subscribe(cup.contest, cup.world.bob)
    other = Contest.objects.get()
    other.pk, other.slug = None, "other"
    other.save()
    subscribe(other, cup.world.alice)
    token = stop_token(Subscription.objects.get(contest=cup.contest, user=cup.world.alice))
    assert Client().post(f"/contests/other/mail/{token}/").status_code == 404
    assert Client().post(f"{CUP}mail/{token[:-1]}/").status_code == 404
    assert Client().post(f"{CUP}mail/{token}/").status_code == 200
    left = Subscription.objects.values_list("contest__slug", "user__username")
    assert sorted(left) == [("cup", "bob"), ("other", "alice")]


def test_a_user_who_unsubscribes_gets_no_queued_emails(cup: Cup) -> None:
    subscribe(cup.contest, cup.world.alice)
    announce(cup)
    logged_in(cup.world.alice).post(f"{CUP}mail/", {"on": "0"})
    assert send_due_mail() == 0


def test_a_user_without_address_is_asked_for_one(cup: Cup) -> None:
    answer = logged_in(cup.tim).post(f"{CUP}mail/", {"on": "1"})
    assert answer["Location"] == "/account/email/"
    assert not Subscription.objects.exists()


def test_a_site_without_mail_offers_and_queues_nothing(cup: Cup, settings: Settings) -> None:
    settings.KEYDROME_SENDS_MAIL = False
    subscribe(cup.contest, cup.world.alice)
    browser = logged_in(cup.world.alice)
    assert OFFER not in browser.get(CUP).content.decode()
    assert browser.post(f"{CUP}mail/", {"on": "1"}).status_code == 404
    announce(cup)
    assert send_due_mail() == 0
    assert not Delivery.objects.exists()
    assert mail.outbox == []


def test_a_refused_mail_is_tried_three_times_and_stops_no_other(cup: Cup) -> None:
    subscribe(cup.contest, cup.world.alice)
    subscribe(cup.contest, cup.world.bob)
    announce(cup)
    tried = []

    def send(message: EmailMessage) -> None:
        tried.append(message.to[0])
        if message.to == ["alice@example.org"]:
            raise SMTPException("mailbox full")

    with patch.object(EmailMessage, "send", send):
        assert [send_due_mail() for _ in range(5)] == [1, 0, 0, 0, 0]
    assert sorted(tried) == ["alice@example.org"] * 3 + ["bob@example.org"]


def test_a_title_cannot_add_headers(cup: Cup) -> None:
    subscribe(cup.contest, cup.world.alice)
    organising.announce(
        cup.contest,
        "x\nBcc: eve@example.org",
        "y",
        by=cup.officials["organiser"],
        address="http://s/",
    )
    assert send_due_mail() == 1
    (sent,) = mail.outbox
    assert "\n" not in sent.subject
    assert sent.recipients() == ["alice@example.org"]


def test_nothing_to_send_costs_one_statement(
    cup: Cup, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        assert send_due_mail() == 0
