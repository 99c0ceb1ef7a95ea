# Tests submitting a library: which runs are queued, and which files and requests are refused. Each submission runs on
# the chosen targets (benchmark instances), and on all gates (required correctness tests).

import hashlib
import io
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from leaderboard import boards, catalogue, plots, services
from leaderboard.catalogue import Target
from leaderboard.models import Kind, Run, State, Submission
from leaderboard.queue import claims, quotas, wakeup
from leaderboard.services import Refused
from leaderboard.submissions import inspection
from leaderboard.tests.conftest import PRELIMINARY1, PRELIMINARY2, LibraryMaker, Repository
from runner.inspection import library
from runner.inspection.library import LibraryKind
from runner.terms import Verdict

pytestmark = pytest.mark.django_db


def submit(owner: User, path: Path, **changes: Any) -> Submission:
    arguments: dict[str, Any] = {"targets": [PRELIMINARY1], "file_name": path.name, **changes}
    with path.open("rb") as file:
        return services.submit(owner=owner, file=file, **arguments)


def test_a_library_is_queued_after_its_gates(
    alice: User, library_maker: LibraryMaker, own_var: Path
) -> None:
    path = library_maker()
    submission = submit(
        alice, path, description="  my\nfirst  ", targets=[PRELIMINARY2, PRELIMINARY1]
    )
    runs = list(submission.runs.order_by("id"))
    assert [(r.benchmark, r.instance, r.kind, r.sessions) for r in runs] == [
        ("phantom", "phantom", "correctness", 1),
        ("unit", "unit", "correctness", 1),
        ("sigmod2009", "preliminary2", "performance", 15),
        ("sigmod2009", "preliminary1", "performance", 15),
    ]
    assert {run.state for run in runs} == {State.QUEUED}
    assert {run.scale for run in runs} == {"paper"}
    assert submission.description == "my first"
    assert submission.kind == Kind.INDEX
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert submission.blob_sha256 == digest
    assert (own_var / "blobs" / digest[:2] / digest[2:4] / digest).read_bytes() == path.read_bytes()


def test_every_session_has_a_secret_seed_of_its_own(
    alice: User, library_maker: LibraryMaker
) -> None:
    first = submit(alice, library_maker())
    second = submit(alice, library_maker())
    seeds = [seed for run in Run.objects.all() for seed in run.seeds]
    assert len(seeds) == len(set(seeds)) == 2 * (15 + 1 + 1)
    assert first.pk != second.pk


def test_scale_and_sessions_can_be_chosen(alice: User, library_maker: LibraryMaker) -> None:
    submission = submit(alice, library_maker(), scale="smoke", sessions=3)
    assert {run.scale for run in submission.runs.all()} == {"smoke"}
    assert {run.sessions for run in submission.runs.filter(kind="performance")} == {3}


def test_without_a_scale_each_target_runs_at_the_scale_of_its_board(
    alice: User, library_maker: LibraryMaker, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gates (required correctness tests) run once, at the largest of the scales of the submission's targets."""
    settings.KEYDROME_SCALE = ""
    scales = {"preliminary1": ("laptop", "paper"), "preliminary2": ("smoke",)}
    changed = tuple(
        replace(board, scales=scales.get(board.slug, board.scales)) for board in boards._published()
    )
    monkeypatch.setattr(boards, "_published", lambda: changed)
    both = submit(alice, library_maker(), targets=[PRELIMINARY1, PRELIMINARY2])
    assert {run.instance: run.scale for run in both.runs.all()} == {
        "preliminary1": "laptop",
        "preliminary2": "smoke",
        "unit": "laptop",
        "phantom": "laptop",
    }
    small = submit(alice, library_maker(), targets=[PRELIMINARY2])
    assert {run.scale for run in small.runs.all()} == {"smoke"}


def test_a_target_without_a_board_runs_at_paper_scale(
    alice: User, library_maker: LibraryMaker, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.KEYDROME_SCALE = ""
    kept = tuple(board for board in boards._published() if board.slug != "preliminary2")
    monkeypatch.setattr(boards, "_published", lambda: kept)
    submission = submit(alice, library_maker(), targets=[PRELIMINARY2])
    assert {run.scale for run in submission.runs.all()} == {"paper"}


def test_a_target_named_twice_runs_once(alice: User, library_maker: LibraryMaker) -> None:
    submission = submit(
        alice, library_maker(), targets=[PRELIMINARY1, PRELIMINARY1, Target("unit", "unit")]
    )
    assert submission.runs.count() == 3


def test_workers_are_woken_after_commit_only(
    alice: User, library_maker: LibraryMaker, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks() as callbacks:
        submit(alice, library_maker())
    assert [(callback.func, callback.args) for callback in callbacks] == [(wakeup.wake, ("bench",))]


def test_a_name_with_newlines_and_slashes_is_made_harmless(
    alice: User, library_maker: LibraryMaker
) -> None:
    submission = submit(alice, library_maker(), file_name="../../etc/my\nlib.so")
    assert "/" not in submission.file_name
    assert "\n" not in submission.file_name
    assert submission.file_name.endswith("lib.so")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file has 0 bytes"),
        (b"#!/bin/sh\necho hello\n" * 10, "looks like a script"),
        (b"\x7fELF\x02\x01\x01" + bytes(200), "ELF machine 0"),
    ],
)
def test_a_file_that_is_not_a_library_is_refused_at_once_with_the_reason(
    alice: User, content: bytes, message: str, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks() as callbacks:
        submission = services.submit(
            owner=alice, file=io.BytesIO(content), file_name="x.so", targets=[PRELIMINARY1]
        )
    assert callbacks == []  # no worker is woken
    assert (submission.kind, submission.size_bytes) == (Kind.UNKNOWN, len(content))
    runs = list(submission.runs.select_related("detail"))
    assert len(runs) == 3
    for run in runs:
        assert (run.state, run.verdict, run.attempt) == (State.DONE, Verdict.REFUSED, 0)
        assert message in run.reason
        assert run.machine is None
        assert run.finished_at is not None
        (finding,) = run.detail.findings
        assert (finding["suite"], finding["detail"]) == ("inspection", run.reason)
        assert run.why_not == ([] if run.is_gate else ["the run did not pass (verdict: refused)"])
    assert claims.claimable().count() == 0
    assert plots.draw_missing() == 0
    assert services.withdraw(submission, by=alice)


def test_a_missing_call_is_refused_by_name(
    alice: User, tmp_path: Path, library_maker: LibraryMaker
) -> None:
    whole = library_maker()
    path = tmp_path / "other.so"
    path.write_bytes(whole.read_bytes().replace(b"getNext\0", b"getNixt\0"))
    (reason,) = set(submit(alice, path).runs.values_list("reason", flat=True))
    assert "does not export getNext:" in reason


def test_a_file_above_the_limit_is_refused_while_it_comes_in(alice: User, own_var: Path) -> None:
    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            buffer[:] = bytes(len(buffer))
            return len(buffer)

    with pytest.raises(Refused, match="larger than the limit of 64 MiB"):
        services.submit(
            owner=alice, file=io.BufferedReader(Endless()), file_name="x", targets=[PRELIMINARY1]
        )
    assert not Submission.objects.exists()
    assert not [path for path in (own_var / "blobs").rglob("*") if path.is_file()]


def test_refusals_of_the_file_are_reported_at_once_and_those_of_a_machine_by_the_worker(
    alice: User, library_maker: LibraryMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = library_maker(0, "-Wl,-rpath,/opt/mine", "-Wl,--disable-new-dtags")
    submission = submit(alice, path)
    assert set(submission.runs.values_list("verdict", flat=True)) == {Verdict.REFUSED}
    assert [refusal["name"] for refusal in submission.facts["refusals"]] == ["forbidden_entry"]
    monkeypatch.setattr(inspection, "BENCH_DECIDES", {"forbidden_entry"})
    submission = submit(alice, path)
    assert set(submission.runs.values_list("state", flat=True)) == {State.QUEUED}


def test_a_file_must_fit_the_configuration(
    alice: User, tmp_path: Path, library_maker: LibraryMaker
) -> None:
    whole = submit(alice, library_maker(), configuration="rw")
    (reason,) = set(whole.runs.values_list("reason", flat=True))
    assert "only bare structures take a configuration: submit the file without" in reason
    source = tmp_path / "bare.c"
    source.write_text("int keydrome_structure(void) { return 0; }")
    path = tmp_path / "bare.so"
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(path)], check=True)
    bare = submit(alice, path)
    assert bare.kind == Kind.STRUCTURE
    (reason,) = set(bare.runs.values_list("reason", flat=True))
    assert "choose one of the configurations exclusive, rw" in reason
    queued = submit(alice, path, configuration="rw")
    assert set(queued.runs.values_list("state", flat=True)) == {State.QUEUED}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"targets": []}, "no benchmark is chosen: choose at least one"),
        ({"targets": [Target("nothing", "x")]}, "there is no benchmark 'nothing'"),
        ({"targets": [Target("sigmod2009", "final")]}, "has no instance 'final'"),
        ({"scale": "huge"}, "unknown scale 'huge'"),
        ({"sessions": 0}, "choose 1 to 99"),
        ({"configuration": "fast"}, "unknown configuration 'fast': choose one of exclusive, rw"),
    ],
)
def test_a_wrong_request_is_refused(
    alice: User, library_maker: LibraryMaker, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(Refused, match=message):
        submit(alice, library_maker(), **changes)
    assert not Submission.objects.exists()


def test_targets_are_parsed_from_text() -> None:
    assert catalogue.parse_target("sigmod2009/preliminary1") == PRELIMINARY1
    assert str(PRELIMINARY1) == "sigmod2009/preliminary1"
    assert [str(choice.target) for choice in catalogue.choices()] == [
        "sigmod2009/preliminary1",
        "sigmod2009/preliminary2",
    ]


def test_a_gate_without_the_wanted_scale_runs_at_its_largest(
    repository: Repository, alice: User, library_maker: LibraryMaker
) -> None:
    path = repository.root / "benchmarks" / "unit" / "benchmark.json"
    content = json.loads(path.read_text())
    del content["instances"]["unit"]["scales"]["paper"]
    path.write_text(json.dumps(content))
    catalogue._load.cache_clear()
    submission = submit(alice, library_maker())
    assert submission.runs.get(benchmark="unit").scale == "laptop"


def structure(library_maker: LibraryMaker, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file that the inspection takes for a bare structure."""
    inspect = library.inspect_library

    def as_structure(*arguments: Any, **options: Any) -> Any:
        return replace(inspect(*arguments, **options), kind=LibraryKind.STRUCTURE)

    monkeypatch.setattr(services, "inspect_library", as_structure)
    return library_maker()


def test_one_upload_runs_under_several_configurations(
    alice: User, library_maker: LibraryMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = structure(library_maker, monkeypatch)
    first = submit(
        alice, path, configuration="exclusive", further_configurations=["rw", "exclusive"]
    )
    (variant,) = first.variants.all()
    assert (first.configuration, variant.configuration) == ("exclusive", "rw")
    assert variant.blob_sha256 == first.blob_sha256
    for one in (first, variant):
        assert one.runs.count() == 3
    assert not {*first.runs.get(kind="performance").seeds} & {
        *variant.runs.get(kind="performance").seeds
    }


def test_a_refused_file_makes_one_submission(alice: User, library_maker: LibraryMaker) -> None:
    whole = submit(alice, library_maker(), configuration="exclusive", further_configurations=["rw"])
    assert set(whole.runs.values_list("verdict", flat=True)) == {Verdict.REFUSED}
    assert Submission.objects.count() == 1


def test_every_configuration_is_checked_before_anything_is_stored(
    alice: User, library_maker: LibraryMaker
) -> None:
    with pytest.raises(Refused, match="unknown configuration 'fast'"):
        submit(alice, library_maker(), configuration="rw", further_configurations=["fast"])
    assert Submission.objects.count() == 0


def test_each_configuration_counts_in_the_quota(
    alice: User, library_maker: LibraryMaker, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    path = structure(library_maker, monkeypatch)
    settings.KEYDROME_SUBMISSIONS_PER_DAY = 2
    left = quotas.left(alice)
    assert left is not None
    assert left.now == 2
    settings.KEYDROME_SUBMISSIONS_PER_DAY = 1
    with pytest.raises(Refused, match=r"the limit is 1: choose at most 1 configuration"):
        submit(alice, path, configuration="rw", further_configurations=["exclusive"])
    settings.KEYDROME_SUBMISSIONS_OPEN = 1
    with pytest.raises(Refused, match=r"you want 2 submissions, and at most 1 of your submissions"):
        submit(alice, path, configuration="rw", further_configurations=["exclusive"])
    assert Submission.objects.count() == 0
    submit(alice, path, configuration="rw")
    assert (quotas.left(alice) or left).now == 0
