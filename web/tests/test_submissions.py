"""Tests the pages with which users upload, follow, cancel and delete submissions."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from markupsafe import escape

from leaderboard import catalogue, plots
from leaderboard.boards import all_boards
from leaderboard.models import Artefact, BoardEntry, Run, Submission
from leaderboard.queue import claims
from runner.settings import load_settings
from runner.terms import Verdict
from web.tests.world import (
    BOARD,
    World,
    choices,
    claim,
    compile_library,
    content_of,
    findings,
    finish,
    finish_all,
    run_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from django.http.response import HttpResponseBase
    from django.test import Client
    from pytest_django.fixtures import Settings


pytestmark = pytest.mark.django_db

FORM = {"description": "first try", "targets": [str(BOARD)]}


def upload(
    browser: Client, world: World, name: str = "mine.so", content: bytes | None = None
) -> HttpResponseBase:
    return browser.post("/submit/", {**FORM, "file": world.file(name, content)})


def status_of(browser: Client, path: str) -> int:
    """Return the status of a response, and read its body to the end, because this closes the file of the response."""
    answer = browser.get(path)
    content_of(answer)
    return answer.status_code


def alert_of(answer: HttpResponseBase) -> str:
    """Return the text of the page's error message."""
    page = content_of(answer).decode()
    assert 'role="alert"' in page, page
    start = page.index('role="alert"')
    return page[start : page.index("</div>", start)]


def error_of(answer: HttpResponseBase) -> str:
    """Return the form's summary of errors. Asserts that there is one, and that no submission was created."""
    assert Submission.objects.count() == 0
    return alert_of(answer)


def refusal_of(browser: Client, answer: HttpResponseBase) -> str:
    """Return the form's message after a refused upload. Asserts that the submission's pages have the same message."""
    submission = Submission.objects.latest("id")
    assert answer.status_code == 302
    assert answer["Location"] == f"/submit/?refused={submission.pk}"
    alert = alert_of(browser.get(answer["Location"]))
    run = run_of(submission)
    assert run.verdict == Verdict.REFUSED
    assert f'href="/runs/{run.pk}/"' in alert
    page = browser.get(f"/runs/{run.pk}/").content.decode()
    assert str(escape(run.reason[1:])) in page
    assert "Not ranked because the run did not pass (verdict: refused)." in page
    assert str(escape(run.reason[1:40])) in browser.get("/submissions/").content.decode()
    return unescape(alert)


def test_the_form_offers_what_the_manifests_say(alice: Client) -> None:
    page = alice.get("/submit/").content.decode()
    assert choices()
    for value in choices():
        assert f'value="{value}"' in page
    ticked = set(re.findall(r'value="([a-z0-9_]+/[a-z0-9_]+)"[^>]*checked', page))
    assert ticked == {"sigmod2009/preliminary1", "sigmod2009/preliminary2"}
    groups = re.findall(r"<details ?(open)?\s*>\s*<summary>(.+) \((\d+)\)</summary>", page)
    offered = {choice.group for choice in catalogue.choices()}
    assert {title for _, title, _ in groups} == offered
    assert sum(int(count) for _, _, count in groups) == len(choices())
    assert [title for is_open, title, _ in groups if is_open] == ["SIGMOD 2009 contest"]


def test_an_upload_becomes_runs_gates_included(alice: Client, world: World) -> None:
    answer = upload(alice, world)
    assert answer.status_code == 302
    assert answer["Location"] == "/submissions/"
    submission = Submission.objects.get()
    assert submission.owner == world.alice
    gates = {target.benchmark for target in catalogue.gate_targets()}
    assert {run.benchmark for run in submission.runs.all()} == gates | {"sigmod2009"}
    page = alice.get("/submissions/").content.decode()
    assert "Submitted." in page
    assert "first try" in page


def test_a_refusal_is_reported_in_the_form_and_on_the_pages(alice: Client, world: World) -> None:
    answer = upload(alice, world, "mine<b>.so", b"#!/bin/sh\necho hello\n")
    alert = refusal_of(alice, answer)
    assert "mine<b>.so was refused and did not run." in alert
    assert "The file is not an ELF file; it looks like a script: build a shared object" in alert
    assert "Correct the file or your choices below" in alert
    # The name of a refused file must not claim that it is a whole library.
    for page in ("/submissions/", f"/submissions/{Submission.objects.get().pk}/"):
        shown = alice.get(page).content.decode()
        assert "unknown kind" in shown
        assert "whole library" not in shown


def test_after_a_refusal_the_form_is_as_it_was(alice: Client, bob: Client, world: World) -> None:
    form = {"description": "second try", "targets": [choices()[-1]], "configurations": ["rw"]}
    answer = alice.post("/submit/", {**form, "file": world.file(content=b"hello")})
    page = alice.get(answer["Location"]).content.decode()
    assert 'value="second try"' in page
    assert re.search(r'value="rw" id="id_configurations_\d+"\s+checked', page)
    checked = re.findall(r'value="([^"]+)" id="id_targets_[\d_]+"\s+checked', page)
    assert checked == [choices()[-1]]
    # Other users do not see the refused submission. For any other value in the URL the form is empty.
    for browser, address in ((bob, answer["Location"]), (alice, "/submit/?refused=x")):
        page = browser.get(address).content.decode()
        assert "second try" not in page
        assert 'role="alert"' not in page


def test_a_submission_that_was_not_refused_is_not_offered_again(
    alice: Client, world: World
) -> None:
    submission = world.submit()
    page = alice.get("/submit/", {"refused": submission.pk}).content.decode()
    assert 'role="alert"' not in page


def test_a_file_that_is_too_large_says_so_and_how_to_correct_it(
    alice: Client, world: World, settings: Settings
) -> None:
    settings.KEYDROME_UPLOAD_BYTES = 10_000
    answer = upload(alice, world, content=b"\x7fELF" + bytes(50_000))
    assert answer.status_code == 413
    message = error_of(answer)
    assert "larger than 9.8" in message
    assert "strip" in message
    assert "Choose the shared library" not in message
    assert not list(load_settings().blobs.rglob("*"))


def test_the_shown_size_limit_is_the_limit_that_applies(alice: Client, settings: Settings) -> None:
    """KEYDROME_UPLOAD_BYTES cannot raise the limit above that of the inspection, so pages must not show it then."""
    for limit, shown in ((128 << 20, "64.0"), (32 << 20, "32.0")):
        settings.KEYDROME_UPLOAD_BYTES = limit
        page = alice.get("/submit/").content.decode()
        assert f"The size limit is {shown}\N{NARROW NO-BREAK SPACE}MiB" in page


def test_no_file_no_benchmark_and_a_long_description(alice: Client) -> None:
    answer = alice.post("/submit/", {"description": "x" * 300, "targets": [], "configuration": ""})
    message = error_of(answer)
    assert "Choose the shared library" in message
    assert "Choose at least one benchmark" in message
    assert "200" in message


@pytest.mark.parametrize("value", ["sigmod2009/unknown", "nothing", "../../etc", "unit/default"])
def test_an_unknown_benchmark_is_refused(alice: Client, world: World, value: str) -> None:
    answer = alice.post("/submit/", {**FORM, "targets": [value], "file": world.file()})
    assert "Select a valid choice" in error_of(answer)


def test_a_configuration_is_refused_for_a_whole_library(alice: Client, world: World) -> None:
    answer = alice.post("/submit/", {**FORM, "configurations": ["rw"], "file": world.file()})
    assert "only bare structures take a configuration" in refusal_of(alice, answer)


def test_an_unknown_configuration_is_an_error_of_the_form(alice: Client, world: World) -> None:
    answer = alice.post("/submit/", {**FORM, "configurations": ["fast"], "file": world.file()})
    assert "Select a valid choice. fast is not one of" in error_of(answer)


def test_a_bare_structure_needs_a_configuration(
    alice: Client, world: World, tmp_path: Path
) -> None:
    structure = compile_library(tmp_path, calls=["keydrome_structure"])
    alert = refusal_of(alice, upload(alice, world, content=structure))
    assert "a structure needs a configuration to run under: choose one" in alert
    assert "rw" in alert
    form = {**FORM, "configurations": ["rw"], "file": world.file(content=structure)}
    assert alice.post("/submit/", form).status_code == 302
    submission = Submission.objects.latest("id")
    assert (submission.kind, submission.configuration) == ("structure", "rw")
    assert "rw" in alice.get("/submissions/").content.decode()


def test_one_upload_under_all_configurations(alice: Client, world: World, tmp_path: Path) -> None:
    structure = compile_library(tmp_path, calls=["keydrome_structure"])
    form = {**FORM, "all_configurations": "on", "configurations": ["bare", "rw"]}
    answer = alice.post("/submit/", {**form, "file": world.file(content=structure)})
    assert answer["Location"] == "/submissions/"
    made = Submission.objects.order_by("pk")
    names = [submission.configuration for submission in made]
    assert names == [*catalogue.isolating(), "bare"]
    assert [submission.upload for submission in made] == [None, *[made[0]] * (len(names) - 1)]


def test_the_form_explains_what_can_be_chosen(alice: Client, olga: Client, world: World) -> None:
    world.submit()
    finish_all()
    page = alice.get("/submit/").content.decode()
    for choice in catalogue.choices():
        assert str(escape(choice.description[:60])) in page, choice
    assert page.count(">board</span>") == len(all_boards())
    assert page.count("Takes less than a minute.") == 1  # only one has been measured
    assert "rw: readers share an index" in page
    assert "more submissions now" in page
    assert "more submissions now" not in olga.get("/submit/").content.decode()


@pytest.mark.parametrize("name", ["../../etc/passwd", "a\nb.so", "\u202egnp.so", "<b>x</b>.so"])
def test_odd_file_names_are_only_shown_cleaned(alice: Client, world: World, name: str) -> None:
    assert upload(alice, world, name=name).status_code == 302
    shown = Submission.objects.get().file_name
    assert "/" not in shown
    assert "\n" not in shown
    page = alice.get("/submissions/").content.decode()
    assert "<b>x" not in page
    assert "\u202e" not in page


def test_uploads_are_counted_per_hour_but_not_those_of_organisers(
    alice: Client, olga: Client, world: World, settings: Settings
) -> None:
    settings.KEYDROME_UPLOADS_PER_HOUR = 1
    assert upload(alice, world).status_code == 302
    answer = upload(alice, world, content=b"hello")
    assert answer.status_code == 429
    assert Submission.objects.count() == 1
    assert (
        "You have used up the limit of 1 upload per hour. Try again in"
        in content_of(answer).decode()
    )
    for _ in range(2):
        assert upload(olga, world).status_code == 302


def test_a_run_page_follows_the_run_until_it_has_ended(alice: Client, world: World) -> None:
    submission = world.submit()
    run = run_of(submission)
    path = f"/runs/{run.pk}/state/"
    gates = len(catalogue.gate_targets())
    assert f"number {gates + 1} in the queue" in alice.get(path).content.decode()
    for _ in range(gates):
        finish(claim())
    mine = claim()
    claims.heartbeat(mine.pk, mine.attempt, 0.25, "session 1 of 3: candidate library, phase test")
    busy = alice.get(path, {"seen": "queued"})
    assert busy.status_code == 200
    assert 'value="0.25"' in busy.content.decode()
    assert "The state of the run is now: running" in busy.content.decode()
    assert alice.get(path, HTTP_IF_NONE_MATCH=busy["ETag"]).status_code == 304
    finish(mine)
    done = alice.get(path, HTTP_IF_NONE_MATCH=busy["ETag"])
    assert done.status_code == 286
    assert '<h2 id="curves">' in done.content.decode()


def test_a_run_that_repeats_sessions_shows_no_percentage(alice: Client, world: World) -> None:
    """All planned sessions are done, so the progress is 1, but the number of repetitions is unknown."""
    run = run_of(world.submit())
    for _ in range(len(catalogue.gate_targets())):
        finish(claim())
    mine = claim()
    for progress, shown in (
        (0.996, "99 %"),
        (1.0, "repeating sessions that were too noisy to count"),
    ):
        claims.heartbeat(mine.pk, mine.attempt, progress, "a note")
        assert shown in alice.get("/submissions/").content.decode()
    assert "100 %" not in alice.get("/submissions/").content.decode()
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    assert '<progress id="progress" max="1"></progress>' in page
    assert "a note" in page


def test_a_run_page_links_to_its_pictures_when_they_are_drawn(alice: Client, world: World) -> None:
    run = run_of(world.submit())
    finish_all()
    link = f'href="/runs/{run.pk}/throughput.svg"'
    assert link not in alice.get(f"/runs/{run.pk}/").content.decode()
    plots.draw_missing()
    assert link in alice.get(f"/runs/{run.pk}/").content.decode()


def test_the_run_page_tells_required_and_advisory_findings_apart(
    alice: Client, world: World
) -> None:
    run = run_of(world.submit(), "unit")
    finish_all(verdicts={"unit": Verdict.FAILED})
    run.refresh_from_db()
    run.detail.findings = [finding.to_json() for finding in findings()]
    run.detail.save()
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    required = page.index("Required findings: they decide the verdict")
    advisory = page.index("Advisory findings: warnings")
    assert required < page.index("duplicate keys") < advisory < page.index("sticky db end")
    # The page shows the witness, the proof of a finding, as text, picture, table and C program.
    assert "Two transactions each looked where the other inserted a record" in page
    assert '<svg xmlns="http://www.w3.org/2000/svg"' in page
    assert "T1 (thread 3) must precede T2 (thread 0):" in page
    assert "Records before the first of these transactions: r1 under key 17 of index a." in page
    assert "<td><strong>get(&#34;a&#34;, 39)</strong></td>" in page
    assert "4 more calls that the finding does not depend on" in page
    assert "int main(void)" in page
    assert 'href="/docs/how-to/read-a-witness.html"' in page
    # A page can have several witnesses, and screen readers need a name of its own for each region.
    assert 'aria-label="Picture of the transactions, proof 1"' in page
    assert 'aria-label="Calls, proof 1"' in page


def test_a_finding_of_several_lines_keeps_them(alice: Client, world: World) -> None:
    run = run_of(world.submit(), "unit")
    finish_all(verdicts={"unit": Verdict.FAILED})
    run.refresh_from_db()
    detail = "the time is over\nthread 0: get(<7>) has not returned\n  stack: library.so+0x1"
    run.detail.findings = [{**finding.to_json(), "detail": detail} for finding in findings()]
    run.detail.save()
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    shown = "thread 0: get(&lt;7&gt;) has not returned\n  stack: library.so+0x1</pre>"
    assert f'<pre class="lines">{shown}' in page


def test_a_run_that_the_machine_failed_says_what_to_do(alice: Client, world: World) -> None:
    run = run_of(world.submit(), "unit")
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    assert "send its message to an organiser" not in page
    finish_all(verdicts={"unit": Verdict.INFRASTRUCTURE})
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    assert "The site or its machine failed, not the library. Run the library again later." in page


def test_a_run_page_says_why_it_is_not_ranked(alice: Client, world: World) -> None:
    run = run_of(world.submit())
    finish_all(verdicts={"unit": Verdict.FAILED})
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    gate = run_of(run.submission, "unit")
    reason = f'<a href="/runs/{gate.pk}/">the unit tests did not pass (verdict: failed)</a>'
    assert f"Not ranked because {reason}." in page
    assert BoardEntry.objects.count() == 0


def test_a_run_page_has_rank_sessions_and_facts(alice: Client, world: World) -> None:
    submission = world.submit()
    run = run_of(submission)
    finish_all()
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    assert 'Rank 1 on <a href="/boards/preliminary1/">' in page
    version = f"version {catalogue.benchmarks()[run.benchmark].version}"
    for fact in (submission.blob_sha256, "bench1", version, "full", "Test CPU", "0.506"):
        assert fact in page
    table = page[page.index('<h2 id="sessions">') :]
    assert table.count('<th scope="row" class="num">') == 3
    assert table.count('class="run-dot line-1"') == 4, (
        "a dot for each session and one for the median"
    )


def test_a_run_page_has_the_controls_curves_and_the_phases(alice: Client, world: World) -> None:
    run = run_of(world.submit())
    finish_all()
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    curves = page[page.index('<h2 id="curves">') : page.index('<h2 id="phases">')]
    # The plots of throughput and of three classes of transactions each have a line for the library and a dashed line
    # for the control library, the baseline.
    for style in (1, 2):
        assert curves.count(f'<polyline class="run-line line-{style}"') == 4
    assert curves.count("<td>control library</td>") == 3
    assert "Per second, control library" in curves
    phases = page[page.index('<h2 id="phases">') : page.index('<h2 id="sessions">')]
    assert re.search(r'<th scope="row">test</th>\s*<td>yes</td>', phases)
    assert "0.506" in phases, "the median of the sessions' ratios"


def test_a_run_that_timed_out_has_reason_and_log(alice: Client, world: World) -> None:
    world.submit()
    run = claim()
    reason = "The phase test took longer than 10,000 ms."
    finish(run, Verdict.TIMED_OUT, sessions=(), reason=reason, log="last words\n")
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    assert "timed out" in page
    assert reason in page
    assert "last words" in page
    answer = alice.get(f"/runs/{run.pk}/log/")
    assert content_of(answer) == b"last words\n"
    assert answer["Content-Disposition"].startswith("attachment")


def test_a_log_cannot_do_anything_to_the_page(alice: Client, world: World) -> None:
    world.submit()
    run = claim()
    finish(run, log="</pre><script>alert(1)</script>\x1b[31mred\n")
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    assert "<script>alert" not in page


def test_findings_reason_and_description_cannot_do_anything_to_the_page(
    alice: Client, world: World
) -> None:
    script = "<script>alert(1)</script>\u202e\x1b[31m"
    run = run_of(world.submit(description=script), "unit")
    finish_all(verdicts={"unit": Verdict.FAILED})
    Run.objects.filter(pk=run.pk).update(reason=script)
    run.detail.findings = [{**finding.to_json(), "detail": script} for finding in findings()]
    run.detail.save()
    for path in (f"/runs/{run.pk}/", f"/runs/{run.pk}/state/", "/submissions/", "/"):
        page = alice.get(path).content.decode()
        assert not [sign for sign in ("<script>alert", "\u202e", "\x1b") if sign in page], path


def test_cancelling_a_waiting_run(alice: Client, world: World) -> None:
    run = run_of(world.submit())
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    assert "Cancel this run" in page
    answer = alice.post(f"/runs/{run.pk}/cancel/", follow=True)
    assert "being cancelled" in answer.content.decode()
    run.refresh_from_db()
    assert run.state == "cancelled"
    again = alice.post(f"/runs/{run.pk}/cancel/", follow=True)
    assert "already ended" in again.content.decode()


def test_deleting_asks_first_and_then_removes_every_trace(
    alice: Client, client: Client, olga: Client, world: World
) -> None:
    submission = world.submit(description="to be deleted")
    run = run_of(submission)
    finish_all()
    plots.draw_missing()
    kept = world.submit(owner=world.bob, content=world.library + b"x")
    finish_all()
    paths = [
        f"/runs/{run.pk}/",
        f"/runs/{run.pk}/state/",
        f"/runs/{run.pk}/log/",
        f"/runs/{run.pk}/throughput.svg",
        f"/runs/{run.pk}/latency.svg",
        f"/submissions/{submission.pk}/library/",
        f"/submissions/{submission.pk}/delete/",
    ]
    assert all(status_of(alice, path) in {200, 286} for path in paths)
    question = alice.get(f"/submissions/{submission.pk}/delete/").content.decode()
    assert "cannot undo the deletion" in question
    assert BoardEntry.objects.count() == 2
    answer = alice.post(f"/submissions/{submission.pk}/delete/", follow=True)
    assert "The submission was deleted." in answer.content.decode()
    for path in paths:
        assert status_of(alice, path) == 404, path
        assert status_of(client, path) in {302, 404}, path
    for path in ("/", "/boards/preliminary1/", "/boards/preliminary1.csv"):
        page = client.get(path).content.decode()
        assert "to be deleted" not in page
        assert submission.blob_sha256 not in page
    assert kept.blob_sha256 in client.get("/boards/preliminary1.csv").content.decode()
    # Organisers still see the submission, its run and its files.
    assert all(status_of(olga, path) in {200, 286} for path in paths)
    assert "Only organisers see this page" in olga.get(paths[0]).content.decode()


def test_the_owner_gets_the_library_back(alice: Client, world: World) -> None:
    submission = world.submit()
    answer = alice.get(f"/submissions/{submission.pk}/library/")
    assert content_of(answer) == world.library
    assert answer["Content-Disposition"] == (
        f'attachment; filename="{submission.blob_sha256[:12]}.so"'
    )
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer["Content-Security-Policy"]


def test_files_that_an_organiser_removed_are_404(alice: Client, world: World) -> None:
    submission = world.submit()
    run = run_of(submission)
    Artefact.objects.create(run=run, name="throughput.svg", file="runs/0/gone.svg")
    for blob in load_settings().blobs.rglob(submission.blob_sha256):
        blob.unlink()
    assert alice.get(f"/submissions/{submission.pk}/library/").status_code == 404
    assert alice.get(f"/runs/{run.pk}/throughput.svg").status_code == 404
