"""Tests accounts: signing up, logging in and out, passwords and second factors, with allauth's views and our pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.conf import settings as live_settings
from django.contrib.auth.models import User
from django.core import mail

from web.tests.world import PASSWORD, World

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django import Settings

pytestmark = pytest.mark.django_db

NEW = {"username": "dora", "password1": PASSWORD, "password2": PASSWORD}
OWN_TEMPLATES = Path(__file__).resolve().parents[1] / "jinja2"


def test_signing_up_logs_in_without_mail(client: Client) -> None:
    answer = client.post("/account/signup/", NEW)
    assert answer.status_code == 302
    assert answer["Location"] == "/submissions/"
    assert client.get("/submissions/").status_code == 200
    assert not User.objects.get(username="dora").is_staff


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"username": "alice"}, "already exists"),
        ({"username": "keydrome"}, "This username is reserved. Choose another one."),
        ({"username": "Admin"}, "This username is reserved. Choose another one."),
        ({"username": "a/b\n"}, "valid username"),
        ({"username": "\N{CYRILLIC SMALL LETTER KA}eydrome"}, "valid username"),
        ({"password1": "12345678", "password2": "12345678"}, "too common"),
        ({"password2": "something else"}, "same password"),
        ({"username": ""}, "required"),
    ],
)
def test_signing_up_says_what_is_wrong(
    client: Client, world: World, change: dict[str, str], expected: str
) -> None:
    answer = client.post("/account/signup/", {**NEW, **change})
    assert answer.status_code == 200
    assert expected in answer.content.decode()
    assert User.objects.count() == 3


def test_logging_in_and_out(client: Client, world: World) -> None:
    wrong = client.post("/account/login/", {"login": "alice", "password": "wrong"})
    assert "not correct" in wrong.content.decode()
    right = client.post("/account/login/?next=/status/", {"login": "alice", "password": PASSWORD})
    assert right["Location"] == "/status/"
    assert client.get("/account/logout/").status_code == 200
    assert client.get("/submissions/").status_code == 200
    client.post("/account/logout/")
    assert client.get("/submissions/").status_code == 302


def test_no_page_says_that_the_user_is_logged_in_after_the_log_out(
    client: Client, world: World
) -> None:
    client.post("/account/login/", {"login": "alice", "password": PASSWORD})
    client.post("/account/logout/")  # no page has shown the messages of the log-in
    page = client.get("/").content.decode()
    assert re.findall(r'role="status">(.*?)</p>', page) == ["You are logged out."]
    client.post("/account/login/", {"login": "alice", "password": PASSWORD})
    del client.cookies["sessionid"]  # as if the session had ended
    page = client.get("/").content.decode()
    assert "Log in" in page
    assert 'role="status"' not in page


def test_logging_in_does_not_lead_elsewhere(client: Client, world: World) -> None:
    answer = client.post(
        "/account/login/?next=https://evil.example/", {"login": "alice", "password": PASSWORD}
    )
    assert answer["Location"] == "/submissions/"


def test_guessing_passwords_is_slowed_down(client: Client, world: World) -> None:
    for _ in range(12):
        answer = client.post("/account/login/", {"login": "alice", "password": "wrong"})
    assert "Too many log-ins have failed. Try again in 5 minutes." in answer.content.decode()


def test_a_form_sent_too_often_is_429_with_advice(client: Client) -> None:
    for _ in range(6):
        answer = client.post("/account/password/reset/", {"email": "alice@example.org"})
    assert answer.status_code == 429
    assert "Wait a minute, then send the form again." in answer.content.decode()


def test_guesses_at_one_account_do_not_stop_others(client: Client, world: World) -> None:
    for _ in range(40):
        client.post("/account/login/", {"login": "alice", "password": "wrong"})
    answer = client.post("/account/login/", {"login": "bob", "password": PASSWORD})
    assert answer.status_code == 302


def test_organisers_log_in_on_the_page_of_the_site(client: Client, world: World) -> None:
    page = client.get("/admin/", follow=True)
    assert page.redirect_chain[-1][0].startswith("/account/login/?next=")
    assert 'class="site-nav"' in page.content.decode()
    for _ in range(6):
        client.post("/account/login/", {"login": "olga", "password": "wrong"})
    answer = client.post("/account/login/", {"login": "olga", "password": PASSWORD})
    assert "Too many log-ins have failed. Try again in 5 minutes." in answer.content.decode()


def test_users_are_not_organisers(alice: Client) -> None:
    assert alice.get("/admin/", follow=True).status_code == 403


def test_the_admin_asks_for_the_second_factor(client: Client, world: World) -> None:
    organiser = User.objects.get(is_staff=True)
    TOTP.activate(organiser, generate_totp_secret())
    login = client.get("/admin/", follow=True).redirect_chain[-1][0]
    answer = client.post(login, {"login": organiser.username, "password": PASSWORD})
    assert answer["Location"].startswith("/account/2fa/authenticate/")
    assert client.get("/admin/").status_code == 302


def test_changing_the_password(alice: Client, world: World) -> None:
    new = "another horse and battery"
    answer = alice.post(
        "/account/password/change/",
        {"oldpassword": PASSWORD, "password1": new, "password2": new},
    )
    assert answer.status_code == 302
    world.alice.refresh_from_db()
    assert world.alice.check_password(new)


def test_resetting_a_password_by_mail(client: Client, world: World) -> None:
    world.alice.email = "alice@example.org"
    world.alice.save()
    client.post("/account/password/reset/", {"email": "alice@example.org"})
    (message,) = mail.outbox
    found = re.search(r"http://testserver(\S+)", str(message.body))
    assert found
    page = client.get(found[1], follow=True)
    new = "another horse and battery"
    client.post(page.request["PATH_INFO"], {"password1": new, "password2": new})
    world.alice.refresh_from_db()
    assert world.alice.check_password(new)


@pytest.mark.parametrize(("sends", "words"), [(True, "Link sent"), (False, "sends no email")])
def test_a_site_without_mail_does_not_say_that_it_sent_a_link(
    client: Client, world: World, settings: Settings, sends: bool, words: str
) -> None:
    settings.KEYDROME_SENDS_MAIL = sends
    answer = client.post("/account/password/reset/", {"email": "alice@example.org"}, follow=True)
    page = answer.content.decode()
    assert words in page
    assert ("Link sent" in page) == sends


def test_second_factor_end_to_end(alice: Client, client: Client, world: World) -> None:
    alice.post("/account/reauthenticate/", {"password": PASSWORD})
    page = alice.get("/account/2fa/totp/activate/").content.decode()
    secret = re.search(r'<code class="wrap">(\w+)</code>', page)
    assert secret

    def code() -> str:
        counter = next(iter(yield_hotp_counters_from_time()))
        return str(format_hotp_value(hotp_value(secret[1], counter)))

    alice.post("/account/2fa/totp/activate/", {"code": code()})
    assert "Every log-in requires a code" in alice.get("/account/2fa/").content.decode()
    assert "codes are left" in alice.get("/account/2fa/recovery-codes/").content.decode()
    half = client.post("/account/login/", {"login": "alice", "password": PASSWORD})
    assert half["Location"].startswith("/account/2fa/authenticate/")
    assert client.get("/submissions/").status_code == 302
    assert "Enter a code" in client.get(half["Location"]).content.decode()


@pytest.mark.parametrize(
    "path",
    [
        "",
        "password/change/",
        "email/",
        "2fa/",
        "2fa/totp/activate/",
        "reauthenticate/",
        "sessions/",
        "logout/",
    ],
)
def test_pages_after_the_log_in_are_ours(client: Client, world: World, path: str) -> None:
    client.post("/account/login/", {"login": "alice", "password": PASSWORD})
    answer = client.get(f"/account/{path}", follow=True)
    assert answer.status_code == 200
    assert 'class="site-nav"' in answer.content.decode()


@pytest.mark.parametrize(
    "path",
    [
        "login/",
        "signup/",
        "password/reset/",
        "password/reset/done/",
        "password/reset/key/1-wrong/",
        "password/reset/key/done/",
        "inactive/",
        "confirm-email/",
        "confirm-email/wrong/",
    ],
)
def test_pages_before_the_log_in_are_ours(client: Client, path: str) -> None:
    answer = client.get(f"/account/{path}")
    assert answer.status_code == 200
    assert 'class="site-nav"' in answer.content.decode()


def test_only_the_site_can_read_unsent_mail() -> None:
    folder = Path(live_settings.VAR_DIR) / "mail"
    assert folder.stat().st_mode & 0o077 == 0
    assert (Path(live_settings.VAR_DIR) / "secret-key").stat().st_mode & 0o077 == 0


def test_only_the_site_can_read_its_database(tmp_path: Path) -> None:
    environment = {"KEYDROME_VAR": str(tmp_path), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-m", "web.manage", "migrate", "--verbosity", "0"]
    subprocess.run(command, env=environment, cwd=OWN_TEMPLATES.parents[1], check=True)
    database = tmp_path / "keydrome.sqlite3"
    assert database.stat().st_size > 0
    assert database.stat().st_mode & 0o077 == 0
    # A file that an earlier version created becomes private, too.
    database.chmod(0o644)
    subprocess.run(command, env=environment, cwd=OWN_TEMPLATES.parents[1], check=True)
    assert database.stat().st_mode & 0o077 == 0
