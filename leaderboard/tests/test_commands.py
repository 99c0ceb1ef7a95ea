# Tests the management commands: reference libraries, printed boards (rankings), demo accounts, and the worker's slot. A
# reference library is a library of this repository that the organisers submit for comparison.

import stat
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from leaderboard import services
from leaderboard.management.commands import add_reference
from leaderboard.models import Machine, Run, State, Submission
from leaderboard.queue import claims
from leaderboard.tests.conftest import REPOSITORY, LibraryMaker, Repository, Track, enter
from leaderboard.tests.reports import make_report
from leaderboard.tests.test_record import gates, ranked
from runner.slots import slots_for_tests
from runner.terms import Verdict

pytestmark = pytest.mark.django_db


def run(name: str, *arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command(name, *arguments, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def references(
    repository: Repository,
    library_maker: LibraryMaker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A build folder with one reference library, the whole library `mine`."""
    build = tmp_path / "build"
    (build / "lib" / "indexes").mkdir(parents=True)
    folder = repository.root / "indexes" / "mine"
    folder.mkdir(parents=True)
    (folder / "index.json").write_text(
        '{"name": "mine", "description": "Mine.", "needed": [], "trusted": true}'
    )
    (build / "lib" / "indexes" / "mine.so").write_bytes(library_maker().read_bytes())
    monkeypatch.setenv("KEYDROME_BUILD", str(build))
    return build


def test_libraries_that_no_gate_accepts_are_no_references(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYDROME_ROOT", str(REPOSITORY))
    references = add_reference.all_references()
    names = {one.name for one in references if one.configuration}  # only structures have one
    assert {"btree", "student"} <= names
    assert not names & {"hash", "null"}
    whole = {one.name for one in references if not one.configuration}
    assert "global_lock" in whole
    assert "null" not in whole


def test_references_are_submitted_once_per_build(
    references: Path, library_maker: LibraryMaker
) -> None:
    assert "mine: 4 runs queued" in run("add_reference", "--scale", "smoke", "--sessions", "3")
    (submission,) = Submission.objects.all()
    assert (submission.owner.username, submission.owner.is_staff) == ("keydrome", True)
    assert submission.trusted
    assert submission.reference
    assert set(submission.runs.values_list("scale", flat=True)) == {"smoke"}
    assert "mine: nothing to queue" in run("add_reference", "--scale", "smoke", "--sessions", "3")
    (references / "lib" / "indexes" / "mine.so").write_bytes(library_maker(1).read_bytes())
    assert "mine: 4 runs queued" in run("add_reference", "--scale", "smoke", "--sessions", "3")


def test_runs_of_a_newer_benchmark_version_are_missing(
    references: Path, repository: Repository
) -> None:
    run("add_reference")
    repository.set_version("sigmod2009", 2)
    assert "mine: 4 runs queued" in run("add_reference")


def test_runs_that_the_machine_failed_are_missing(references: Path, track: Track) -> None:
    run("add_reference", "--scale", "smoke")
    first = list(Run.objects.order_by("id"))
    lost = {first[0].pk: "phantom", first[2].pk: "sigmod2009"}
    assert [found.benchmark for found in first[:3:2]] == list(lost.values())
    for found in first:
        verdict = Verdict.INFRASTRUCTURE if found.pk in lost else Verdict.PASSED
        track.finish(found, verdict=verdict)
    # Every submission also runs all gates (required correctness tests).
    assert "mine: 3 runs queued" in run("add_reference", "--scale", "smoke")
    again = Run.objects.filter(pk__gt=first[-1].pk).order_by("id")
    assert again[2].instance == first[2].instance
    assert "mine: nothing to queue" in run("add_reference", "--scale", "smoke")


def test_a_gate_alone_can_be_missing(references: Path, repository: Repository) -> None:
    run("add_reference")
    repository.set_version("unit", 2)
    assert "mine: 2 runs queued" in run("add_reference")
    assert "mine: nothing to queue" in run("add_reference")


def test_an_unknown_scale_is_reported(references: Path) -> None:
    with pytest.raises(CommandError, match="unknown scale 'huge'"):
        run("add_reference", "--scale", "huge")


def test_a_reference_that_is_refused_is_an_error_each_time(references: Path) -> None:
    (references / "lib" / "indexes" / "mine.so").write_bytes(b"hello")
    for _ in range(2):
        with pytest.raises(
            CommandError,
            match=r"mine: .*mine\.so was refused: the file is not an ELF file; it .* text file: run \./dev build",
        ):
            run("add_reference", "mine")


def test_missing_builds_are_reported(references: Path) -> None:
    (references / "lib" / "indexes" / "mine.so").unlink()
    with pytest.raises(CommandError, match=r"not built yet: .*mine\.so: run ./dev build first"):
        run("add_reference")
    with pytest.raises(CommandError, match="unknown reference library other"):
        run("add_reference", "other")


def test_waiting_ends_with_the_last_run_and_reports_each_run(
    references: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time the command pauses, one run finishes, as if a worker had executed the run."""

    def work() -> None:
        claimed = claims.claim(claims.Slot(machine, 0))
        assert claimed is not None
        failed = claimed.benchmark == "unit"
        verdict = Verdict.FAILED if failed else Verdict.PASSED
        reason = "key 7 is lost" if failed else ""
        services.record(make_report(claimed, verdict=verdict, reason=reason))

    monkeypatch.setattr(add_reference, "pause", work)
    said = run("add_reference", "--wait", "--board")
    assert "waiting for 4 runs of mine to end ..." in said
    assert "mine, unit unit paper: failed: key 7 is lost" in said
    assert "mine, sigmod2009 preliminary2 paper: passed" in said
    assert said.count("mine, ") == 4
    assert said.rindex("mine, ") < said.index("Preliminary 1 (sigmod2009")


def test_a_test_that_was_not_run_is_explained_to_the_operator(
    references: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> None:
        claimed = claims.claim(claims.Slot(machine, 0))
        assert claimed is not None
        services.record(make_report(claimed, verdict=Verdict.CRASHED, reason="SIGSEGV"))

    monkeypatch.setattr(add_reference, "pause", work)
    said = run("add_reference", "--wait")
    assert "mine, phantom phantom paper: crashed: SIGSEGV" in said
    assert (
        "mine, unit unit paper: this test was not run, because the library crashed in the test"
        in said
    )
    assert "correct the library, build it, and repeat this command" in said


def test_waiting_leaves_out_the_runs_of_other_libraries(
    references: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`./dev up` queues further references in the background. The next `./dev up` must not wait for them."""
    folder = repository.root / "indexes" / "other"
    folder.mkdir()
    (folder / "index.json").write_text(
        '{"name": "other", "description": "Other.", "needed": [], "trusted": true}'
    )
    built = references / "lib" / "indexes"
    (built / "other.so").write_bytes((built / "mine.so").read_bytes() + b"other")
    run("add_reference")
    Run.objects.filter(submission__description="mine").update(
        state=State.CANCELLED, finished_at=timezone.now()
    )
    monkeypatch.setattr(add_reference, "submit_missing", lambda *_: 0)
    monkeypatch.setattr(add_reference, "pause", pytest.fail)
    assert "waiting" not in run("add_reference", "mine", "--wait")
    assert Run.objects.filter(submission__description="other", state=State.QUEUED).count() == 4


def test_a_failure_of_the_machine_is_an_error_and_all_runs_are_missing(
    references: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> None:
        claimed = claims.claim(claims.Slot(machine, 0))
        assert claimed is not None
        services.record(make_report(claimed, verdict=Verdict.INFRASTRUCTURE, reason="no memory"))

    monkeypatch.setattr(add_reference, "pause", work)
    with pytest.raises(CommandError, match="4 runs could not be judged"):
        run("add_reference", "--wait", "--board")
    assert "mine: 4 runs queued" in run("add_reference")


def test_waiting_without_a_worker_says_what_to_do(references: Path) -> None:
    run("add_reference")
    Run.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    with pytest.raises(CommandError, match="no bench worker claims runs: if"):
        run("add_reference", "--wait")


def test_the_board_as_text(alice: User, track: Track) -> None:
    assert "no entries yet" in run("show_board", "preliminary1")
    submission = enter(alice)
    ranked(track, submission)
    lines = run("show_board", "preliminary1").splitlines()
    assert lines[0] == "Preliminary 1 (sigmod2009 version 1)"
    assert lines[1] == "machine class: fast"
    assert lines[2].split()[:3] == ["rank", "library", "user"]
    assert lines[3].split() == [
        "1",
        "library-0.so",
        "alice",
        "50.7",
        "0.507",
        "0.503-0.511",
        "30",
        "0",
        "15,000",
        "full",
        submission.blob_sha256[:12],
    ]
    assert len(lines) == 4
    ranked(track, enter(alice, 1))
    assert run("show_board", "preliminary1").splitlines()[-1].startswith("A rank such as 1-2 is an")
    with pytest.raises(CommandError, match=r"unknown board 'final': choose from .*preliminary1"):
        run("show_board", "final")


def test_a_provisional_board_says_so(alice: User, track: Track, settings: Any) -> None:
    settings.KEYDROME_BOARD_SCALE = "smoke"
    ranked(track, enter(alice, scale="smoke", sessions=15))
    assert "PROVISIONAL" in run("show_board", "preliminary1").splitlines()[0]


def test_the_demo_accounts_are_made_once(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    run("create_demo")
    path = tmp_path / "demo-password"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    password = path.read_text().strip()
    demo = User.objects.get(username="demo")
    assert demo.check_password(password)
    assert not demo.is_staff
    organiser = User.objects.get(username="keydrome")
    assert organiser.is_superuser
    assert organiser.check_password((tmp_path / "organiser-password").read_text().strip())
    run("create_demo")
    assert path.read_text().strip() == password
    assert User.objects.count() == 2


def test_an_organiser_whom_another_command_made_gets_a_password(
    settings: Any, tmp_path: Path, references: Path
) -> None:
    settings.VAR_DIR = tmp_path
    run("add_reference")
    run("create_demo")
    password = (tmp_path / "organiser-password").read_text().strip()
    assert User.objects.get(username="keydrome").check_password(password)


def test_the_demo_password_can_be_given(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR_DIR = tmp_path
    monkeypatch.setenv("KEYDROME_DEMO_PASSWORD", "correct horse")
    run("create_demo")
    assert User.objects.get(username="demo").check_password("correct horse")


def test_the_small_commands_say_what_they_did(alice: User, track: Track) -> None:
    submission = enter(alice)
    ranked(track, submission)
    assert (
        run("recover_lost")
        == "runs whose worker died or hangs: queued again: 0; ended, because no attempt was left: 0; "
        "cancelled at a user's request: 0\n"
    )
    assert run("rerun_stale") == (
        "no run queued: each entry has a run, ended or not, with the newest version of its benchmark\n"
    )
    assert run("rebuild_boards") == "recomputed the boards; number of entries: 1\n"
    assert run("draw") == "checked 3 runs and drew the missing plots\n"
    assert run("warm_plots").startswith("the font cache is built")
    assert [gate.state for gate in gates(submission)] == [State.DONE, State.DONE]


def test_a_slot_out_of_range_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYDROME_BUILD", str(REPOSITORY / "build" / "release"))
    with pytest.raises(CommandError, match="--slot is 1000: it must be from 0 to 999"):
        run("work", "--slot", "1000", "--drain")
    assert run("work", "--slot", str(slots_for_tests()[0]), "--drain") == ""
