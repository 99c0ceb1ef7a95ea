"""Tests what `keydrome check` prints first, and that one fault does not fill the screen."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from rich.console import Console

from cli.output.check_proof import smallest_proof
from cli.output.check_text import show_findings
from runner.report import Finding
from runner.terms import Severity
from runner.tests.samples import make_witness

SHRUNK = Finding("differential", "own_insert", Severity.REQUIRED, "wrong\nThese 2 calls\na\nb\nc")
SCRIPT = Finding("scenarios", "phantom", Severity.REQUIRED, "S10\ncall\nanswer")
CYCLE = Finding("isolation", "phantom", Severity.REQUIRED, "two phantoms", make_witness())
WORDS = Finding("unit", "create", Severity.REQUIRED, "create returned FAILURE")
WARNING = Finding("scenarios", "second_begin", Severity.ADVISORY, "S48")


def printed(*findings: Finding) -> list[str]:
    out = Console(file=StringIO(), width=110)
    show_findings(out, findings)
    assert isinstance(out.file, StringIO)
    return out.file.getvalue().splitlines()


def test_the_easiest_proof_comes_first() -> None:
    assert smallest_proof([WORDS, CYCLE, SCRIPT, SHRUNK, WARNING]) is SHRUNK
    assert smallest_proof([WORDS, CYCLE, SCRIPT]) is SCRIPT
    assert smallest_proof([WORDS, CYCLE]) is CYCLE
    assert smallest_proof([WORDS]) is WORDS
    assert smallest_proof([WARNING]) is None


def test_words_about_what_is_left_out_are_no_calls() -> None:
    many = replace(SCRIPT, detail="S40\nWhat the script does.\n(not shown: 1 more finding)")
    longer = replace(SCRIPT, detail="S10\ncall\nanswer\ncall\nanswer")
    assert smallest_proof([many, longer]) is longer


def test_one_fault_with_many_names_fits_on_a_screen() -> None:
    long = replace(SHRUNK, detail="\n".join(["wrong " * 60] * 100))
    many = [replace(SCRIPT, name=f"name_{number}") for number in range(20)]
    lines = printed(long, *many, WARNING)
    assert len(lines) <= 35  # `check` adds at most five lines
    assert lines[0] == "differential: own_insert"
    assert "  and 11 more (--witness DIR writes all findings to files)" in lines
    assert lines[-1] == "Warnings (they do not fail the library): second_begin"
    assert all(len(line) <= 110 for line in lines)


def test_a_proof_without_calls_is_completed_by_its_witness() -> None:
    text = "\n".join(printed(CYCLE))
    assert "two phantoms" in text
    assert "T1 must precede T2" in text


def test_without_a_fault_each_warning_says_what_it_is() -> None:
    grown = replace(WARNING, name="memory_growth", detail="memory grew by 12 KiB " * 8 + "\nlong")
    lines = printed(grown, WARNING)
    assert lines[0] == "Warnings (they do not fail the library):"
    assert lines[1].startswith("  scenarios memory_growth: memory grew by 12 KiB")
    assert lines[2].startswith("    ")
    assert "long" not in "".join(lines)
    assert lines[-1] == "  scenarios second_begin: S48"
    assert printed(*[replace(WARNING, name=f"name_{n}") for n in range(7)])[-1] == "  and 2 more"


def test_text_of_a_library_does_not_control_the_terminal() -> None:
    assert "\x1b" not in "".join(printed(replace(WORDS, detail="\x1b[31mred")))


def test_the_line_of_another_finding_begins_with_what_happened() -> None:
    """The place of the call would push the decisive words out of the line."""
    place = 'phase "test", thread 0, operation 3: '
    what = "insertRecord returned undocumented code 77, which keydrome/index.h does not allow here"
    other = replace(WORDS, name="illegal_answer", detail=place + what)
    lines = printed(SCRIPT, other)
    assert lines[-2].startswith(
        "  unit illegal_answer: insertRecord returned undocumented code 77, which keydrome"
    )
    assert (
        lines[-1]
        == "  (… marks a line that is cut off; --witness DIR writes all findings to files)"
    )
    where = 'index A, transaction 4 of thread 1 in phase "run": '
    read = replace(WORDS, detail=f"{where}a read failed")
    assert printed(SCRIPT, read)[-1] == "  unit create: a read failed"


def test_a_summary_that_repeats_the_finding_is_printed_once() -> None:
    assert CYCLE.witness is not None
    witness = replace(CYCLE.witness, summary="What it means. Here: two phantoms")
    text = "\n".join(printed(replace(CYCLE, witness=witness)))
    assert text.count("two phantoms") == 1
    assert "T1 must precede T2" in text
