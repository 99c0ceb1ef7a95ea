"""Tests of witnesses: strict reading, text, and pictures that contain no script of an untrusted library.

A witness is the proof of a violation: the transactions, their calls, and why one must precede another.
"""

from __future__ import annotations

import itertools
import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from errno import ENOSPC
from os import strerror
from pathlib import Path
from typing import Any

import pytest

from cli import witness_folder
from cli.output.build_text import compile_command, with_paths
from cli.witness_folder import HISTORY_BYTES_MAX, WitnessFolder
from results.witness_picture import EDGE_STYLES, WIDTH, witness_svg
from results.witness_text import witness_text
from runner.contract import Session
from runner.output_file import OutputFileError
from runner.report import Finding
from runner.series import SeriesResult
from runner.strict import StrictError
from runner.terms import Severity, Verdict
from runner.tests import samples
from runner.tests.samples import make_witness
from runner.witness import Call, Edge, EdgeKind, Witness

SVG = "{http://www.w3.org/2000/svg}"
MINE = Path("/home/me/mine.so")
ROOT = Path(__file__).resolve().parents[2]


def as_json() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(json.dumps(make_witness().to_json()))
    return value


def test_round_trip() -> None:
    finding = Finding("isolation", "phantom", Severity.REQUIRED, "two phantoms", make_witness())
    assert Finding.from_json(json.loads(json.dumps(finding.to_json()))) == finding


def test_whole_numbers_are_numbers_too() -> None:
    value = as_json()
    value["transactions"][0]["begin_us"] = 0
    assert Witness.from_json(value, "witness") == make_witness()


@pytest.mark.parametrize(
    ("place", "wrong", "message"),
    [
        (("summary",), None, "summary: expected a string, found null"),
        (("summary",), "x" * 1_001, "summary: the text has 1001 characters, but at most 1000"),
        (("program",), "x" * 400_001, "400001 characters, but at most 400000 are allowed"),
        (("initial",), [1], r"initial\[0\]: expected a string"),
        (("initial",), ["r"] * 513, "513 items, but at most 512"),
        (("transactions",), [{}] * 65, "65 items, but at most 64"),
        (("transactions_left_out",), -1, "-1 is less than 0"),
        (("transactions", 0, "thread"), -1, "-1 is less than 0"),
        (("transactions", 0, "begin_us"), "0", "begin_us: expected a number, found a string"),
        (("transactions", 0, "end_us"), float("inf"), "the number is not between"),
        (("transactions", 0, "calls", 0, "marked"), 1, "marked: expected a boolean"),
        (("edges", 0, "kind"), "odd", "'odd' is not one of"),
        (("edges", 0, "target"), 2, "target 2 is too large: it must be below 2, the number"),
    ],
)
def test_other_forms_are_refused(place: tuple[Any, ...], wrong: object, message: str) -> None:
    value: Any = as_json()
    inner = value
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = wrong
    with pytest.raises(StrictError, match=message):
        Witness.from_json(value, "witness")


def test_the_number_of_transactions_not_shown_is_part_of_the_text() -> None:
    value = as_json()
    value["transactions_left_out"] = 6
    witness = Witness.from_json(value, "witness")
    assert "\n\nTransactions not shown: 6.\n\n" in witness_text(witness)
    assert "not shown" not in witness_text(make_witness())


def test_picture_shows_every_transaction_call_and_edge() -> None:
    witness = make_witness()
    picture = ET.fromstring(witness_svg(witness))  # noqa: S314 - our own text
    texts = [element.text for element in picture.iter(f"{SVG}text")]
    assert picture.findtext(f"{SVG}title") == witness.summary
    for transaction in witness.transactions:
        assert transaction.name in texts
        for call in transaction.calls:
            assert f"{call.call} → {call.answer}" in texts
    for edge in witness.edges:
        assert EDGE_STYLES[edge.kind].label in texts
    assert len(picture.findall(f"{SVG}path")) == len(witness.edges)


def cycles() -> Witness:
    """Return a witness with many labels: three transactions of five calls, and an edge of every kind among them."""
    one = make_witness().transactions[0]
    calls = [
        Call(i + 0.1, i + 0.4, f'insertRecord("customers", {i}, r{i})', "SUCCESS", marked=True)
        for i in range(5)
    ]
    transactions = [
        replace(one, name=f"T{n}", begin_us=n, end_us=n + 1.0, calls=tuple(calls[n:]))
        for n in range(3)
    ]
    ends = [(0, 1), (1, 2), (2, 0), (1, 0), (0, 2), (2, 1)]
    edges = [
        Edge(source, target, kind, "")
        for (source, target), kind in zip(ends, EdgeKind, strict=True)
    ]
    return Witness("cycles", tuple(transactions), tuple(edges))


@pytest.mark.parametrize("witness", [make_witness(), cycles()])
def test_labels_of_a_picture_overlap_neither_each_other_nor_a_bar(witness: Witness) -> None:
    picture = ET.fromstring(witness_svg(witness))  # noqa: S314 - our own text
    boxes = []
    for element in picture.iter(f"{SVG}text"):
        x, y = float(element.attrib["x"]), float(element.attrib["y"])
        wide = 7.5 if "font-weight" in element.attrib else 6.3
        boxes.append((element.text or "", x, y - 9, x + wide * len(element.text or ""), y + 2))
    assert all(left >= 0 and right <= WIDTH for _, left, _, right, _ in boxes)
    for element in picture.iter(f"{SVG}rect"):
        y = float(element.attrib["y"])
        boxes.append(("bar", 120, y, WIDTH, y + float(element.attrib["height"])))
    for one, other in itertools.combinations(boxes, 2):
        apart = one[3] <= other[1] or other[3] <= one[1] or one[4] <= other[2] or other[4] <= one[2]
        assert apart, f"{one[0]} overlaps {other[0]}"


def test_picture_holds_text_as_text() -> None:
    value = as_json()
    value["transactions"][0]["name"] = "<script>alert(1)</script>\x01"
    picture = witness_svg(Witness.from_json(value, "witness"))
    assert "<script" not in picture
    assert "\x01" not in picture
    assert "style=" not in picture  # the site's policy allows no inline styles


def test_nothing_to_draw_is_no_picture() -> None:
    assert witness_svg(Witness("only words")) == ""


def test_equal_times_do_not_divide_by_zero() -> None:
    value = as_json()
    value["transactions"] = [
        {**value["transactions"][0], "begin_us": 1, "end_us": 1, "calls": []},
    ]
    value["edges"] = []
    assert "NaN" not in witness_svg(Witness.from_json(value, "witness"))


def test_text_lists_transactions_calls_and_edges() -> None:
    text = witness_text(make_witness())
    assert text.startswith("Two transactions each looked where the other inserted a record")
    assert "Records that existed before these transactions:\n  r1 under key 17 of index a\n" in text
    assert "T1 (thread 3, committed, 0.00 to 9.50 us)" in text
    assert '  >       0.90 us  get("a", 39) = KEY_NOTFOUND' in text
    assert "and 4 more calls that the finding does not depend on" in text
    assert "T1 must precede T2: T1's get of key 39 did not see r3" in text


def test_files_of_a_failed_session(tmp_path: Path) -> None:
    finding = Finding("isolation", "phantom", Severity.REQUIRED, "two phantoms", make_witness())
    wordless = Finding("isolation", "wrong_order", Severity.REQUIRED, "a scan went backwards")
    report = replace(samples.report("failed"), findings=(wordless, finding))
    session = Session("00000000000000ff", candidate_first=True, candidate=report, control=None)
    result = SeriesResult(Verdict.FAILED, "two phantoms", (wordless, finding), (session,))
    folder = tmp_path / "witness"
    folder.mkdir()
    histories = tmp_path / "histories"
    histories.mkdir()
    kept = WitnessFolder(folder, "./mine.so", MINE)
    kept.keep(result, histories)
    stem = f"{report.benchmark}-{report.instance}-00000000000000ff"
    assert sorted(path.name for path in folder.iterdir()) == [
        f"{stem}-2-phantom.c",
        f"{stem}-2-phantom.svg",
        f"{stem}-2-phantom.txt",
        f"{stem}.json",
    ]
    assert kept.problem == ""


def failed_session() -> tuple[SeriesResult, Finding]:
    """Return the result of a session with one finding that has a witness, and the finding."""
    finding = Finding("isolation", "phantom", Severity.REQUIRED, "two phantoms", make_witness())
    report = replace(samples.report("failed"), findings=(finding,))
    session = Session("00000000000000ff", candidate_first=True, candidate=report, control=None)
    return SeriesResult(Verdict.FAILED, "two phantoms", (finding,), (session,)), finding


def test_a_full_disk_ends_the_writing_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, finding = failed_session()

    def full(*_arguments: object) -> None:
        raise OutputFileError("cannot write x: advice") from OSError(ENOSPC, strerror(ENOSPC))

    monkeypatch.setattr(witness_folder, "write_file", full)
    kept = WitnessFolder(tmp_path, "./mine.so", MINE)
    kept.keep(result, tmp_path)
    kept.finish(finding, [finding], "00000000000000ff")
    assert kept.problem == (
        "not all files could be written (No space left on device): "
        "fix this problem, or give --witness another folder"
    )


def test_a_device_in_the_folder_has_one_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_device(*_arguments: object) -> None:
        raise OutputFileError("cannot write x: it is a pipe: remove it")

    monkeypatch.setattr(witness_folder, "write_file", is_device)
    kept = WitnessFolder(tmp_path, "./mine.so", MINE)
    kept.keep(failed_session()[0], tmp_path)
    assert kept.problem == "not all files could be written: cannot write x: it is a pipe: remove it"


def test_the_folder_says_where_to_start(tmp_path: Path) -> None:
    result, finding = failed_session()
    histories = tmp_path / "histories"
    histories.mkdir()
    (histories / "large.history").write_bytes(b"x" * (HISTORY_BYTES_MAX - 4))
    (histories / "small.history").write_bytes(b"x" * 5)
    folder = tmp_path / "witness"
    folder.mkdir()
    kept = WitnessFolder(folder, "./mine.so", MINE)
    kept.keep(result, histories)
    kept.finish(finding, [finding], "00000000000000ff")
    text = (folder / "README.txt").read_text()
    assert "The smallest proof: isolation phantom\n\ntwo phantoms" in text
    assert "read sample-small-00000000000000ff-1-phantom.txt" in text
    assert "Large histories that are left out: 1;" in text
    assert sorted(path.name for path in folder.glob("*.history")) == ["small.history"]
    everything = WitnessFolder(folder, "./mine.so", MINE, all_histories=True)
    everything.keep(result, histories)
    assert (folder / "large.history").exists()


@pytest.mark.parametrize(
    ("verdict", "name", "tool"),
    [
        (Verdict.CRASHED, "crashed", "stack"),
        (Verdict.TIMED_OUT, "hang", "gdb"),
        (Verdict.TIMED_OUT, "too_slow", "perf"),
    ],
)
def test_the_folder_says_how_to_debug_a_session_that_ended_early(
    verdict: Verdict, name: str, tool: str, tmp_path: Path
) -> None:
    finding = Finding("scenarios", name, Severity.REQUIRED, "ended early")
    report = replace(samples.report(verdict.value), findings=(finding,))
    session = Session("00000000000000ff", candidate_first=True, candidate=report, control=None)
    result = SeriesResult(verdict, "ended early", (finding,), (session,))
    kept = WitnessFolder(tmp_path / "witness", "./mine.so", MINE)
    kept.path.mkdir()
    (tmp_path / "histories").mkdir()
    kept.keep(result, tmp_path / "histories")
    kept.finish(finding, [finding], "00000000000000ff")
    text = (kept.path / "README.txt").read_text()
    assert (
        f"To debug: `keydrome debug ./mine.so --benchmark {report.benchmark} --instance {report.instance} "
        f"--scale {report.scale.value} --seed 00000000000000ff --tool {tool}` plays the "
    ) in text
    assert "docs/how-to/debug-a-library.md" in text
    files = "What the files are:\n  .json     the report of a session, with every finding\n\n"
    assert files in text  # there are no other files to explain


def test_the_folder_says_how_to_find_a_leak(tmp_path: Path) -> None:
    """A warning has no files of its own, so the folder does not explain any."""
    grown = Finding("scenarios", "memory_growth", Severity.ADVISORY, "memory grows")
    report = replace(samples.report(), findings=(grown,))
    session = Session("00000000000000ff", candidate_first=True, candidate=report, control=None)
    kept = WitnessFolder(tmp_path / "witness", "./mine.so", MINE)
    kept.path.mkdir()
    (tmp_path / "histories").mkdir()
    kept.keep(SeriesResult(Verdict.PASSED, "", (grown,), (session,)), tmp_path / "histories")
    kept.finish(None, [grown], "00000000000000ff")
    text = (kept.path / "README.txt").read_text()
    played = f"--benchmark {report.benchmark} --instance {report.instance}"
    assert f"To list the leak: keydrome debug ./mine.so {played} " in text
    assert "--seed 00000000000000ff --tool valgrind\nHow to debug: docs/how-to/debug" in text
    assert "What the files are" not in text
    assert "docs/how-to/read-a-witness.md" not in text


def test_the_file_about_many_threads_says_what_must_hold_and_where_the_calls_are(
    tmp_path: Path,
) -> None:
    witness = Witness.from_json(
        {**as_json(), "summary": "S57: 2 calls", "transactions": [], "edges": [], "program": ""},
        "witness",
    )
    detail = "S57: 2 calls\nMany threads insert the same pair."
    finding = Finding("scenarios", "double_insert", Severity.REQUIRED, detail, witness)
    report = replace(samples.report("failed"), findings=(finding,))
    session = Session("00000000000000ff", candidate_first=True, candidate=report, control=None)
    result = SeriesResult(Verdict.FAILED, "", (finding,), (session,))
    kept = WitnessFolder(tmp_path / "witness", "./mine.so", MINE)
    kept.path.mkdir()
    (tmp_path / "histories").mkdir()
    kept.keep(result, tmp_path / "histories")
    name = f"{report.benchmark}-{report.instance}-00000000000000ff"
    text = (kept.path / f"{name}-1-double_insert.txt").read_text()
    assert text.startswith(detail + "\n\nMany threads made these calls at the same time")
    assert f"{name}-*.history" in text
    assert (
        f"To play the session again: keydrome debug ./mine.so --benchmark {report.benchmark} "
        in text
    )


def test_the_command_that_compiles_a_program_has_whole_paths(tmp_path: Path) -> None:
    line = (
        " *   cc -std=c99 -pthread -I api/include phantom.c ./LIBRARY.so -o phantom && ./phantom\n"
    )
    program = f"/* phantom\n{line} */\nint main(void) {{ return 0; }}\n"
    witness = replace(make_witness(), program=program)
    finding = Finding("isolation", "phantom", Severity.REQUIRED, "two phantoms", witness)
    report = replace(samples.report("failed"), findings=(finding,))
    session = Session("00000000000000ff", candidate_first=True, candidate=report, control=None)
    kept = WitnessFolder(tmp_path / "witness", "./mine.so", MINE)
    kept.path.mkdir()
    (tmp_path / "histories").mkdir()
    kept.keep(SeriesResult(Verdict.FAILED, "", (finding,), (session,)), tmp_path / "histories")
    kept.finish(finding, [finding], "00000000000000ff")
    stem = kept.path / "sample-small-00000000000000ff-1-phantom"
    command = (
        f"cc -std=c99 -pthread -I {ROOT}/api/include {stem}.c /home/me/mine.so -o {stem} && {stem}"
    )
    assert f" *   {command}\n" in stem.with_suffix(".c").read_text()
    assert f"  run  {command}\n" in (kept.path / "README.txt").read_text()
    # A path cannot end the comment of the program.
    assert with_paths(program, Path("/a/*/b.c"), MINE) == program


@pytest.mark.parametrize(
    "line",
    [
        "cc -std=c99 -I api/include session.c ./LIBRARY.so -o session && ./session",
        "cc -std=c99 -g -pthread -I api/include THIS_FILE.c ./LIBRARY.so -o replay && ./replay",
    ],
)
def test_the_commands_of_all_kinds_of_programs_are_known(line: str) -> None:
    command = compile_command(with_paths(f"/*\n *   {line}\n */\n", Path("/w/one.c"), MINE))
    assert command.endswith("/api/include /w/one.c /home/me/mine.so -o /w/one")


@pytest.mark.parametrize(
    "before",
    [
        "Build and run, with this file as session.c and your library as LIBRARY.so:",
        "Build and run it, with your library as LIBRARY.so:",
    ],
)
def test_a_program_with_whole_paths_does_not_explain_names_that_are_not_in_it(before: str) -> None:
    line = "cc -std=c99 -I api/include session.c ./LIBRARY.so -o session && ./session"
    program = f"/*\n * {before}\n *   {line}\n */\n"
    changed = with_paths(program, Path("/w/one.c"), MINE)
    assert "LIBRARY.so" not in changed
    assert " (in another place, change the paths):\n" in changed
    # Without the paths, the names stay.
    assert with_paths(program, Path("/a/*/b.c"), MINE) == program
