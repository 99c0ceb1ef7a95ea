"""Tests access rights: the owner, another user, an organiser and an anonymous visitor request every URL.

web/tests/contests/test_access.py does the same for contests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from leaderboard import plots
from leaderboard.models import Run, Submission
from web.tests.fixtures import logged_in
from web.tests.world import World, content_of, finish_all, run_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_django.fixtures import Settings

pytestmark = pytest.mark.django_db

LOGIN = 302  # a redirect to the log-in page
ACCOUNTS = "allauth.urls"


@dataclass(frozen=True)
class Rule:
    """The status that each visitor receives for a URL. `owner` owns the submission or run in the URL, if it has one."""

    name: str
    path: str
    owner: int
    other: int
    organiser: int
    anonymous: int
    method: str = "get"


# {run} and {submission} belong to Alice. A POST that changes something receives 302, a redirect to the next page.
RULES = [
    Rule("home", "/", 200, 200, 200, 200),
    Rule("about", "/about/", 200, 200, 200, 200),
    Rule("announcements", "/news/", 200, 200, 200, 200),
    Rule("status", "/status/", 200, 200, 200, 200),
    Rule("status-state", "/status/state/", 200, 200, 200, 200),
    Rule("machine", "/machines/{machine}/", 200, 200, 200, 200),
    Rule("machine-seen", "/machines/{machine}/last-seen/", 200, 200, 200, 200),
    Rule("machine-seen", "/machines/0/last-seen/", 404, 404, 404, 404),
    Rule("boards:all", "/boards/", 200, 200, 200, 200),
    Rule("boards:board", "/boards/preliminary1/", 200, 200, 200, 200),
    Rule("boards:history", "/boards/preliminary1/history/", 200, 200, 200, 200),
    Rule("boards:history", "/boards/none/history/", 404, 404, 404, 404),
    Rule("boards:staged", "/boards/preliminary1/new-version/", 404, 404, 200, LOGIN),
    Rule("boards:staged", "/boards/none/new-version/", 404, 404, 404, LOGIN),
    Rule("boards:repeat", "/boards/preliminary1/new-version/repeat/", 405, 405, 405, LOGIN),
    Rule("boards:repeat", "/boards/preliminary1/new-version/repeat/", 404, 404, 302, LOGIN, "post"),
    Rule("boards:make_live", "/boards/preliminary1/new-version/live/", 405, 405, 405, LOGIN),
    Rule(
        "boards:make_live", "/boards/preliminary1/new-version/live/", 404, 404, 302, LOGIN, "post"
    ),
    Rule("boards:csv", "/boards/preliminary1.csv", 200, 200, 200, 200),
    Rule("boards:json", "/boards/preliminary1.json", 200, 200, 200, 200),
    Rule("boards:configurations", "/boards/configurations/ycsb/", 200, 200, 200, 200),
    Rule("boards:configurations", "/boards/configurations/other/", 404, 404, 404, 404),
    Rule("boards:configurations_csv", "/boards/configurations/ycsb.csv", 200, 200, 200, 200),
    Rule("boards:configurations_json", "/boards/configurations/ycsb.json", 200, 200, 200, 200),
    Rule("boards:user", "/boards/users/alice/", 200, 200, 200, 200),
    Rule("boards:user", "/boards/users/bob/", 404, 404, 404, 404),
    Rule("boards:structure", "/boards/structures/mine/", 200, 200, 200, 200),
    Rule("compare:page", "/compare/", 200, 200, 200, 200),
    Rule("compare:page", "/compare/?runs={run}", 200, 200, 200, 200),
    Rule("compare:sessions", "/compare/sessions/", 405, 405, 405, LOGIN),
    Rule("compare:sessions", "/compare/sessions/?", 404, 404, 404, LOGIN, "post"),
    Rule("compare:csv", "/compare.csv?runs={run},{gate}", 200, 200, 200, 200),
    Rule("compare:json", "/compare.json?runs={run},{gate}", 200, 200, 200, 200),
    Rule("download", "/files/index.h", 200, 200, 200, 200),
    Rule("download", "/files/settings.py", 404, 404, 404, 404),
    Rule("docs", "/docs/", 200, 200, 200, 200),
    Rule("docs-page", "/docs/reference/jail.html", 200, 200, 200, 200),
    Rule("docs-page", "/docs/../secret-key", 404, 404, 404, 404),
    Rule("favicon", "/favicon.ico", 302, 302, 302, 302),
    Rule("account", "/account/", 200, 200, 200, LOGIN),
    Rule("submissions:upload", "/submit/", 200, 200, 200, LOGIN),
    Rule("submissions:upload", "/submit/", 200, 200, 200, LOGIN, "post"),
    Rule("submissions:list", "/submissions/", 200, 200, 200, LOGIN),
    Rule("submissions:table", "/submissions/table/", 286, 286, 286, LOGIN),
    Rule("submissions:run", "/runs/{run}/", 200, 200, 200, 200),
    Rule("submissions:json", "/runs/{run}.json", 200, 200, 200, 200),
    Rule("submissions:bundle", "/runs/{run}/bundle.zip", 200, 200, 200, 200),
    Rule("submissions:bundle-key", "/bundle-key.txt", 200, 200, 200, 200),
    Rule("submissions:state", "/runs/{run}/state/", 286, 286, 286, 286),
    Rule("submissions:log", "/runs/{run}/log/", 200, 404, 200, 404),
    Rule("submissions:plot", "/runs/{run}/throughput.svg", 200, 200, 200, 200),
    Rule("submissions:cancel", "/runs/{run}/cancel/", 405, 405, 405, LOGIN),
    Rule("submissions:cancel", "/runs/{run}/cancel/", 302, 404, 302, LOGIN, "post"),
    Rule("submissions:rerun", "/runs/{run}/rerun/", 405, 405, 405, LOGIN),
    Rule("submissions:rerun", "/runs/{run}/rerun/", 302, 404, 302, LOGIN, "post"),
    Rule("submissions:audit", "/runs/{run}/audit/", 405, 405, 405, LOGIN),
    Rule("submissions:audit", "/runs/{run}/audit/", 404, 404, 302, LOGIN, "post"),
    Rule("submissions:detail", "/submissions/{submission}/", 200, 200, 200, 200),
    Rule("submissions:library", "/submissions/{submission}/library/", 200, 404, 200, LOGIN),
    Rule("submissions:delete", "/submissions/{submission}/delete/", 200, 404, 200, LOGIN),
    Rule("submissions:delete", "/submissions/{submission}/delete/", 302, 404, 302, LOGIN, "post"),
]
VISITORS = ("owner", "other", "organiser", "anonymous")
TABLES = (
    "submission",
    "run",
    "rundetail",
    "artefact",
    "boardentry",
    "machine",
    "controlseries",
    "announcement",
)


@pytest.fixture
def submission(world: World) -> Submission:
    submission = world.submit()
    finish_all()
    return submission


@pytest.fixture
def drawn(submission: Submission) -> Submission:
    plots.draw_missing()
    return submission


def visitor(world: World, who: str) -> Client:
    users = {"owner": world.alice, "other": world.bob, "organiser": world.olga}
    return logged_in(users[who]) if who in users else Client()


@pytest.fixture
def documented(tmp_path: Path, settings: Settings) -> None:
    """Make two pages of the documentation."""
    (tmp_path / "docs" / "reference").mkdir(parents=True)
    (tmp_path / "docs" / "README.html").write_text("front")
    (tmp_path / "docs" / "reference" / "jail.html").write_text("jail")
    (tmp_path / "secret-key").write_text("secret")
    settings.KEYDROME_DOCS_ROOT = str(tmp_path / "docs")


@pytest.mark.usefixtures("documented")
def test_access(world: World, drawn: Submission) -> None:
    run, gate = run_of(drawn), run_of(drawn, "isolation")
    for who in VISITORS:
        with transaction.atomic():
            browser = visitor(world, who)
            for rule in RULES:
                path = rule.path.format(
                    run=run.pk, gate=gate.pk, submission=drawn.pk, machine=run.machine_id
                )
                answer = getattr(browser, rule.method)(path)
                content_of(answer)
                assert answer.status_code == getattr(rule, who), f"{rule.method} {path} by {who}"
                if who == "anonymous" and getattr(rule, who) == LOGIN != rule.owner:
                    assert answer["Location"].startswith("/account/login/"), path
                Submission.objects.update(deleted_at=None)
            # Undo all changes, so that every visitor finds the same data.
            transaction.set_rollback(True)


def test_no_address_of_a_deleted_submission_works_for_others(
    world: World, drawn: Submission
) -> None:
    names = {"run": run_of(drawn).pk, "gate": run_of(drawn, "isolation").pk, "submission": drawn.pk}
    Submission.objects.update(deleted_at=timezone.now())
    rules = [rule for rule in RULES if "{run}" in rule.path or "{submission}" in rule.path]
    for who in ("owner", "other", "anonymous"):
        browser = visitor(world, who)
        for rule in rules:
            answer = getattr(browser, rule.method)(rule.path.format(**names))
            wrong = {405, 404} if getattr(rule, who) == 405 else {404}
            allowed = {302} if who == "anonymous" and rule.anonymous == LOGIN else wrong
            assert answer.status_code in allowed, f"{rule.method} {rule.path} by {who}"


# Pages of accounts that visitors need before they log in. They show nothing about an account.
BEFORE_LOGIN = {
    "account_login",
    "account_logout",  # leads to the front page
    "account_inactive",
    "account_signup",
    "account_email_verification_sent",
    "account_confirm_email",
    "account_reset_password",
    "account_reset_password_done",
    "account_reset_password_from_key",
    "account_reset_password_from_key_done",
}


def test_all_other_pages_of_accounts_lead_to_the_login(client: Client) -> None:
    arguments = {
        "account_confirm_email": ("key",),
        "account_reset_password_from_key": ("1", "key"),
    }
    found = [str(pattern.name) for pattern in _patterns(get_resolver(ACCOUNTS).url_patterns)]
    assert set(found) > BEFORE_LOGIN
    for name in found:
        answer = client.get(reverse(name, args=arguments.get(name, ())))
        leads = answer.status_code == 302 and answer["Location"].startswith("/account/login/")
        assert leads is (name not in BEFORE_LOGIN), name


def _patterns(patterns: list[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield pattern
        else:
            yield from _patterns(pattern.url_patterns)


def test_every_url_of_the_site_has_a_rule() -> None:
    assert {rule.name for rule in RULES} == set(_own_names(get_resolver().url_patterns))


def _own_names(patterns: list[URLPattern | URLResolver], namespace: str = "") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield f"{namespace}{pattern.name}"
        elif str(pattern.pattern) not in {"admin/", "account/", "contests/"}:
            inner = f"{pattern.namespace}:" if pattern.namespace else ""
            yield from _own_names(pattern.url_patterns, namespace + inner)


def test_posts_of_other_users_change_nothing(
    world: World, submission: Submission, bob: Client, client: Client
) -> None:
    waiting = run_of(world.submit(content=world.library + b"x"))
    for browser in (bob, client):
        browser.post(f"/submissions/{submission.pk}/delete/")
        browser.post(f"/runs/{waiting.pk}/cancel/")
    submission.refresh_from_db()
    assert submission.deleted_at is None
    assert Run.objects.get(pk=waiting.pk).cancel_requested_at is None


def test_log_and_seeds_are_for_the_owner_and_organisers(
    world: World, submission: Submission
) -> None:
    run = run_of(submission)
    for who in VISITORS:
        page = visitor(world, who).get(f"/runs/{run.pk}/").content.decode()
        private = who in {"owner", "organiser"}
        assert ("hello from the library" in page) is private, who
        assert (run.seeds[0] in page) is private, who
        assert ("Delete the submission" in page) is private, who


def test_seeds_of_an_open_run_are_secret(world: World) -> None:
    run = run_of(world.submit())
    for who in VISITORS:
        page = visitor(world, who).get(f"/runs/{run.pk}/").content.decode()
        assert run.seeds[0] not in page, who


def test_posts_need_the_secret_of_the_form(world: World, submission: Submission) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(world.alice, "allauth.account.auth_backends.AuthenticationBackend")
    for path in ("/submit/", f"/submissions/{submission.pk}/delete/", "/account/logout/"):
        assert browser.post(path).status_code == 403, path


def test_admin_shows_every_table_to_organisers_only(world: World, submission: Submission) -> None:
    browsers = {who: visitor(world, who) for who in VISITORS}
    for model in TABLES:
        path = f"/admin/leaderboard/{model}/"
        for query in ({}, {"q": "1"}):
            assert browsers["organiser"].get(path, query).status_code == 200, (model, query)
        for who in ("owner", "other", "anonymous"):
            answer = browsers[who].get(path)
            assert answer.status_code == 302, (model, who)
            assert answer["Location"].startswith("/admin/login/"), (model, who)


def test_admin_opens_single_rows(world: World, drawn: Submission) -> None:
    run = run_of(drawn)
    organiser = visitor(world, "organiser")
    artefact = run.artefacts.get(name="throughput.svg")
    for path in (
        f"submission/{drawn.pk}",
        f"run/{run.pk}",
        f"rundetail/{run.pk}",
        f"artefact/{artefact.pk}",
        f"machine/{run.machine_id}",
    ):
        assert organiser.get(f"/admin/leaderboard/{path}/change/").status_code == 200, path
    waiting = run_of(world.submit())
    page = organiser.get(f"/admin/leaderboard/run/{waiting.pk}/change/").content.decode()
    assert not any(seed in page for seed in waiting.seeds)
    answer = organiser.post(
        "/admin/leaderboard/announcement/add/",
        {
            "title": "Hello",
            "body": "*news*",
            "published_at_0": "2026-01-01",
            "published_at_1": "10:00",
        },
    )
    assert answer.status_code == 302
    assert "Hello" in Client().get("/news/").content.decode()
