"""Tests of `keydrome replay` without a jail: which bundles it refuses, and how it compares two runs.

tests/test_end_to_end.py replays a run of a real site.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from cli.main import main
from cli.replay import Original, compare
from results.bundle import RUN, write_bundle
from results.summary import Interval, Summary
from runner.machine import machine_facts
from runner.terms import Verdict

if TYPE_CHECKING:
    from pathlib import Path

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
HERE = machine_facts()["class"]


def run_of(**changes: Any) -> dict[str, Any]:
    """Return run.json as a site exports it, with these fields changed."""
    run: dict[str, Any] = {
        "schema": "keydrome.run.v1",
        "run": "/runs/47/",
        "request": {
            "benchmark": "sigmod2009",
            "benchmark_version": 9,
            "instance": "preliminary1",
            "scale": "smoke",
            "verified": False,
        },
        "library": {"configuration": "", "sha256": "0" * 64},
        "result": {"verdict": "passed", "score": 0.5, "score_low": 0.4, "score_high": 0.6},
        "seeds": ["0123456789abcdef"],
        "machine": {"class": HERE},
    }
    for name, value in changes.items():
        part, _, field = name.partition("__")
        if field:
            run[part][field] = value
        else:
            run[part] = value
    return run


def summary(low: float, ratio: float, high: float) -> Summary:
    return Summary(3, True, "total_ms", (ratio,) * 3, ratio, Interval(low, high, 0.95), {}, {})


@pytest.mark.parametrize(
    ("changes", "verdict", "here", "confirmed", "sentence"),
    [
        ({}, Verdict.PASSED, (0.55, 0.6, 0.7), True, "the intervals of the two ratios overlap"),
        (
            {},
            Verdict.PASSED,
            (0.61, 0.7, 0.8),
            False,
            "the intervals of the two ratios do not overlap",
        ),
        (
            {},
            Verdict.PASSED,
            (0.1, 0.2, 0.39),
            False,
            "because the intervals of the two ratios do not overlap",
        ),
        ({}, Verdict.FAILED, (0.4, 0.5, 0.6), False, "passed in the bundle, failed in the replay"),
        ({}, Verdict.FAILED, (0.1, 0.2, 0.39), False, "not confirm the run, because the verdicts"),
        (
            {"machine__class": "another, 64 CPUs, 512 GiB"},
            Verdict.PASSED,
            (0.8, 0.9, 1.0),
            True,
            "ratios of different machine classes may differ",
        ),
        (
            {"result__score_low": None, "result__score_high": None},
            Verdict.PASSED,
            (0.8, 0.9, 1.0),
            True,
            "too few sessions for intervals",
        ),
        (
            {"result__score_low": 0.5, "result__score_high": 0.5},
            Verdict.PASSED,
            (0.9, 0.9, 0.9),
            True,
            "0.500 in the bundle, 0.900 in the replay\ntoo few sessions for intervals",
        ),
    ],
)
def test_a_replay_is_compared(
    changes: dict[str, Any],
    verdict: Verdict,
    here: tuple[float, float, float],
    sentence: str,
    *,
    confirmed: bool,
) -> None:
    found = compare(Original.from_json(run_of(**changes)), verdict, summary(*here))
    assert found.confirmed is confirmed
    assert sentence in "\n".join(found.lines)


@pytest.mark.parametrize(
    ("changes", "last"),
    [
        ({}, "the replay confirms the run"),
        ({"result__score": None}, "the replay confirms the run"),
        (
            {"machine__class": "another, 64 CPUs, 512 GiB"},
            "the replay confirms the verdict of the run, but says nothing about its ratio",
        ),
        (
            {"result__score_low": None, "result__score_high": None},
            "the replay confirms the verdict of the run, but says nothing about its ratio",
        ),
    ],
)
def test_a_ratio_that_was_not_compared_is_not_confirmed(changes: dict[str, Any], last: str) -> None:
    original = Original.from_json(run_of(**changes))
    assert compare(original, Verdict.PASSED, summary(0.55, 0.6, 0.7)).lines[-1] == last


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"seeds": []},
            "only the owner of the run and organisers get a bundle with seeds",
        ),
        ({"request__benchmark": "sigmod2099"}, "there is no benchmark 'sigmod2099'"),
        ({"request__benchmark_version": 1}, "the run used version 1 of the benchmark sigmod"),
        ({"library__configuration": "fast"}, "'fast' is neither a configuration"),
        (
            {"result__verdict": None},
            "result.verdict: expected a string, found null: if the bundle was made before",
        ),
    ],
)
def test_a_run_that_cannot_be_played_is_refused(
    changes: dict[str, Any], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, library = tmp_path / "run.zip", tmp_path / "mine.so"
    library.write_bytes(b"\x7fELF")
    files = {RUN: json.dumps(run_of(**changes)).encode()}
    path.write_bytes(write_bundle(files, {"commit": "876df0a5"}, KEY))
    assert main(["replay", str(path), str(library), "--require", "none"]) == 2
    assert reason in capsys.readouterr().err


def test_a_bundle_with_another_signature_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, library = tmp_path / "run.zip", tmp_path / "mine.so"
    library.write_bytes(b"\x7fELF")
    path.write_bytes(write_bundle({RUN: json.dumps(run_of()).encode()}, {}, KEY))
    assert main(["replay", str(path), str(library), "--key", "0" * 64]) == 2
    assert "run.zip: the bundle is signed with the key" in capsys.readouterr().err


def test_a_file_that_is_no_bundle_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "run.zip"
    text.write_text("hello")
    assert main(["replay", str(text), "mine.so"]) == 2
    assert "download the bundle again from the page of the run" in capsys.readouterr().err
    for path in (tmp_path, tmp_path / "no.zip"):
        assert main(["replay", str(path), "mine.so"]) == 2
        assert "give a bundle, which the page of a run" in capsys.readouterr().err


def test_another_library_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, library = tmp_path / "run.zip", tmp_path / "mine.so"
    library.write_bytes(b"\x7fELF")
    path.write_bytes(write_bundle({RUN: json.dumps(run_of()).encode()}, {}, KEY))
    assert main(["replay", str(path), str(library), "--require", "none"]) == 2
    assert "mine.so: not the library of the run" in capsys.readouterr().err
