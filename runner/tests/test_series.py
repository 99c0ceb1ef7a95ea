# Tests of runner/series.py: the order of the runs, discarded sessions, and sessions that fail. A session runs the
# candidate, which is judged, and the control, a fixed library. A fake referee replaces the program that runs them.

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.contract import Cancelled, Progress, SessionCurves
from runner.execute import session_log
from runner.inspection.library import LibraryFacts, LibraryKind
from runner.manifest import RequestError, parse_benchmark
from runner.report import Throughput
from runner.request import Loadable, Request, make_loadable
from runner.series import (
    SeriesResult,
    _seeds,
    candidate_first,
    run_series,
    why_machine_too_busy,
)
from runner.terms import JailLevel, Scale, Verdict
from runner.tests.samples import MANIFEST, key_file, report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.settings import Settings

SEEDS = tuple(f"{n:016x}" for n in range(6))
REQUEST = Request(
    benchmark=parse_benchmark(MANIFEST, "sample"),
    instance="small",
    scale=Scale.SMOKE,
    overrides={},
    seeds=SEEDS,
    plain=False,
    require=JailLevel.FULL,
    control=True,
)
# A fake referee. The tests replace CANDIDATE and CONTROL by the verdicts of candidate and control. They replace AUDITED
# by the verdict of the candidate in verified mode, in which the calls come from a process other than the library's. In
# the runs that STRAYS names, the time is STRAY_MS.
SCRIPT = (
    "#!/usr/bin/env -S python3 -IS\n"
    "import json, sys\n"
    "plan = json.load(open(sys.argv[2]))\n"
    "report = json.loads('''REPORT''')\n"
    'control = plan["library"]["path"].endswith("global_lock.so")\n'
    'report["seed"] = plan["seed"]\n'
    'report["verdict"] = "CONTROL" if control else "CANDIDATE"\n'
    'report["verified"] = plan["verified"]\n'
    'if plan["verified"]: report["verdict"] = "passed" if control else "AUDITED"\n'
    'report["reason"] = "" if report["verdict"] == "passed" else "why"\n'
    'report["metrics"]["total_ms"] = 10 if control else 5\n'
    'report["metrics"]["ns_per_call"] = (10 if control else 5) + 300 * plan["verified"]\n'
    'report["metrics"]["calls"] = CALLS\n'
    'if sys.argv[2].split("/")[-2] in STRAYS:\n'
    '    report["metrics"]["total_ms"] = STRAY_MS\n'
    'if report["verdict"] == "failed":\n'
    '    report["findings"] = [{"suite": "s", "name": "n", "severity": "required", "detail": "d"}]\n'
    'print(json.dumps({"event": "phase", "name": "test", "index": 1, "of": 2}), flush=True)\n'
    'open(sys.argv[4], "w").write(json.dumps(report))\n'
)


def series(
    settings: Settings,
    folder: Path,
    *,
    request: Request = REQUEST,
    candidate: str = "passed",
    control: str = "passed",
    audited: str = "passed",
    strays: tuple[str, ...] = (),
    stray_ms: float = 12,
    calls: int = 1000,
    throughput: Throughput | None = None,
    heartbeats: int = 10_000,
    watch: Callable[[Progress], object] = lambda _: None,
) -> tuple[SeriesResult, list[Progress]]:
    path = folder / "build" / "bin" / "referee"
    path.parent.mkdir(parents=True)
    played = replace(report(), throughput=throughput)
    text = SCRIPT.replace("REPORT", json.dumps(played.to_json()))
    text = text.replace("STRAYS", str(strays or ("",))).replace("STRAY_MS", str(stray_ms))
    text = text.replace("CALLS", str(calls))
    text = text.replace("CANDIDATE", candidate).replace("CONTROL", control)
    path.write_text(text.replace("AUDITED", audited))
    path.chmod(0o755)
    progress: list[Progress] = []

    def heartbeat(now: Progress) -> bool:
        progress.append(now)
        watch(now)
        return len(progress) < heartbeats

    settings = replace(settings, build=folder / "build")
    return run_series(
        Loadable(folder / "library.so"), request, settings, folder, heartbeat
    ), progress


def test_a_file_of_keys_that_changes_ends_the_series(settings: Settings, tmp_path: Path) -> None:
    keys = key_file(tmp_path / "keys")
    request = replace(REQUEST, keys=keys)
    sessions: list[int] = []

    def change(now: Progress) -> None:
        sessions.append(now.session)
        if now.session == 2:
            keys.path.write_text("2\n")

    with pytest.raises(RequestError, match="the file changed while the sessions ran"):
        series(settings, tmp_path / "changed", request=request, watch=change)
    assert max(sessions) == 2
    key_file(keys.path)
    result, _ = series(settings, tmp_path / "unchanged", request=request)
    assert len(result.sessions) == len(SEEDS)


def test_the_order_of_a_session_is_a_fair_coin_of_its_seed() -> None:
    heads = sum(candidate_first(f"{n:016x}") for n in range(2000))
    assert 900 < heads < 1100
    assert candidate_first(SEEDS[0]) == candidate_first(SEEDS[0])


def test_a_short_series_has_the_control_on_one_side(settings: Settings, tmp_path: Path) -> None:
    request = replace(REQUEST, seeds=SEEDS[:4])
    result, progress = series(settings, tmp_path, request=request, strays=("2-control",))
    assert result.verdict is Verdict.PASSED
    assert [session.seed for session in result.sessions] == list(request.seeds)
    for session in result.sessions:
        assert session.control is not None
        assert session.control_after is None
        assert not session.discarded
        assert session.candidate.metrics["total_ms"] == 5
        assert session.candidate_first == candidate_first(session.seed)
        roles = [p.role for p in progress if SEEDS[p.session - 1] == session.seed]
        assert (roles[0] == "candidate") == session.candidate_first
    assert result.jail_level == "full"
    fractions = [p.fraction for p in progress]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] < fractions[-1] <= 1


def test_a_long_series_has_the_control_on_both_sides(settings: Settings, tmp_path: Path) -> None:
    result, progress = series(settings, tmp_path)
    assert result.verdict is Verdict.PASSED
    assert len(result.sessions) == len(SEEDS)
    assert [len(session.controls) for session in result.sessions] == [2] * len(SEEDS)
    assert not any(session.discarded or session.candidate_first for session in result.sessions)
    roles = list(dict.fromkeys(p.role for p in progress if p.session == 1))
    assert roles == ["control", "candidate", "control again"]


def test_the_progress_has_the_curves_of_the_last_session(
    settings: Settings, tmp_path: Path
) -> None:
    curve = Throughput("test", 1_000, (10, 20))
    _, progress = series(settings, tmp_path, throughput=curve)
    assert all(p.curves is None for p in progress if p.session == 1)
    for number in range(2, len(SEEDS) + 1):
        found = {p.curves for p in progress if p.session == number}
        assert found == {SessionCurves(number - 1, curve, curve)}


def test_a_session_in_which_the_control_changes_too_much_is_discarded_and_repeated(
    settings: Settings, tmp_path: Path
) -> None:
    strays = ("3-control-again", "7-control")
    result, progress = series(settings, tmp_path, strays=strays)
    assert result.verdict is Verdict.PASSED
    assert {n: s.discarded for n, s in enumerate(result.sessions, start=1) if s.discarded} == {
        3: "the control library ran twice, and its second result is 1.20 times its first (allowed: 0.91 to 1.10)",
        7: "the control library ran twice, and its second result is 0.83 times its first (allowed: 0.91 to 1.10)",
    }
    assert len(result.sessions) == len(SEEDS) + 2
    assert len({session.seed for session in result.sessions}) == len(result.sessions)
    assert sum(not session.discarded for session in result.sessions) == len(SEEDS)
    log = session_log(result.sessions)
    assert "session 3: passed; discarded: the control library ran twice" in log
    fractions = [p.fraction for p in progress]
    assert fractions == sorted(fractions)
    # The same seeds give the same repetitions.
    assert [session.seed for session in result.sessions] == list(_seeds(REQUEST))[:8]


def test_a_noisy_machine_has_a_wide_band(settings: Settings, tmp_path: Path) -> None:
    strays = ("1-control", "2-control-again", "3-control", "4-control-again")
    result, _ = series(settings, tmp_path, request=replace(REQUEST, seeds=SEEDS[:5]), strays=strays)
    assert result.verdict is Verdict.PASSED
    assert [session.discarded for session in result.sessions] == [""] * 5


@pytest.mark.parametrize(("stray_ms", "is_busy"), [(12, False), (12.1, True), (100, True)])
def test_a_machine_on_which_half_of_the_controls_stray_is_too_busy(
    stray_ms: float, is_busy: bool, settings: Settings, tmp_path: Path
) -> None:
    strays = ("1-control", "2-control-again", "3-control")
    request = replace(REQUEST, seeds=SEEDS[:5])
    result, _ = series(settings, tmp_path, request=request, strays=strays, stray_ms=stray_ms)
    reason = why_machine_too_busy(result.sessions, "total_ms")
    assert bool(reason) is is_busy
    assert reason.startswith("this machine is too busy to measure on" if is_busy else "")


def test_without_control_only_the_candidate_runs(settings: Settings, tmp_path: Path) -> None:
    result, progress = series(settings, tmp_path, request=replace(REQUEST, control=False))
    assert {p.role for p in progress} == {"candidate"}
    assert [session.control for session in result.sessions] == [None] * len(SEEDS)


@pytest.mark.parametrize(
    "verdict", ["failed", "crashed", "timed_out", "out_of_memory", "unsupported"]
)
def test_the_first_failed_session_ends_the_series(
    verdict: str, settings: Settings, tmp_path: Path
) -> None:
    result, _ = series(settings, tmp_path, candidate=verdict)
    assert result.verdict == verdict
    assert result.reason == "why"
    assert len(result.sessions) == 1
    assert [f.name for f in result.findings] == (["n"] if verdict == "failed" else [])


@pytest.mark.parametrize(
    ("verdict", "advice"),
    [
        ("crashed", "run ./dev build (on a site: tell an organiser), and try again"),
        (
            "timed_out",
            (
                "try again when the machine has less other work; if this happens again, run ./dev build "
                "(on a site: tell an organiser), and try again"
            ),
        ),
    ],
)
def test_a_control_that_fails_does_not_count_against_the_candidate(
    verdict: str, advice: str, settings: Settings, tmp_path: Path
) -> None:
    result, _ = series(settings, tmp_path, control=verdict)
    assert result.verdict is Verdict.INFRASTRUCTURE
    assert result.reason == (
        "session 1: the control library, which Keydrome times for comparison, did not pass "
        f"(verdict: {verdict.replace('_', ' ')}): why; the judged library is not at fault; {advice}"
    )
    assert not result.sessions


def test_a_control_that_cannot_run_has_only_the_remedy_of_its_reason(
    settings: Settings, tmp_path: Path
) -> None:
    result, _ = series(settings, tmp_path, control="infrastructure")
    assert result.reason == (
        "session 1: the control library, which Keydrome times for comparison, could not be timed; "
        "the judged library is not at fault: why"
    )


def test_a_jail_that_is_too_weak_refuses_the_first_library(
    settings: Settings, tmp_path: Path
) -> None:
    result, _ = series(settings, tmp_path, candidate="refused", control="refused")
    assert result.verdict is Verdict.REFUSED


def test_a_series_can_be_cancelled(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        series(settings, tmp_path, heartbeats=4)


def test_a_structure_needs_a_configuration_and_a_library_must_not_have_one(
    settings: Settings, tmp_path: Path
) -> None:
    structure = LibraryFacts(LibraryKind.STRUCTURE, 1)
    library = LibraryFacts(LibraryKind.INDEX, 1)
    with pytest.raises(RequestError, match="needs a configuration"):
        make_loadable(tmp_path, structure, REQUEST, settings)
    configured = replace(REQUEST, configuration={"name": "rw"})
    with pytest.raises(RequestError, match="leave the configuration out"):
        make_loadable(tmp_path, library, configured, settings)
    target = make_loadable(tmp_path, structure, configured, settings)
    assert target == Loadable(settings.runtime, tmp_path, {"name": "rw"})
    assert make_loadable(tmp_path, library, REQUEST, settings) == Loadable(tmp_path)
