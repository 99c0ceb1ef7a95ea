"""Tests of tools/dev/testing.py: which tests count as failed, what is printed, which suites run at the same time."""

import threading
from pathlib import Path

import pytest
from dev import testing
from dev.steps import StepError, Timings
from dev.testing import Outcome, Suite

REPORT = """<testsuites><testsuite>
<testcase classname="a.b" name="slow" time="2.5"/>
<testcase classname="native" name="native" time="0.25"/>
<testcase classname="a.b" name="skipped" time="0"><skipped/></testcase>
<testcase classname="a.b" name="broken" time="0.5"><failure/></testcase>
<testcase classname="c" name="c" time="0" status="notrun"/>
</testsuite></testsuites>"""


def outcome_of(report: Path) -> Outcome:
    def write() -> None:
        report.write_text(REPORT)

    return testing._counted(report, write)


def test_what_did_not_pass_has_failed(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path / "report.xml")
    assert (outcome.passed, outcome.failed) == (2, 3)


def test_output_about_the_failure_is_reported(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    chatter = "\n".join(f"required finding {number}" for number in range(1000))
    said = f"{chatter}\nx_test.cc:82: Failure\nExpected: true\n{chatter}\n[  FAILED  ] X.Y (1 ms)"

    def write() -> None:
        report.write_text(
            f'<testsuite><testcase classname="x" name="x" status="fail"><system-out>{said}</system-out>'
            "</testcase></testsuite>"
        )

    lines = testing._counted(report, write).message.splitlines()
    assert lines[1:4] == ["x:", "    x_test.cc:82: Failure", "    Expected: true"]
    assert lines[-2:] == ["    [  FAILED  ] X.Y (1 ms)", f"whole log: {tmp_path}/report.log"]
    assert len(lines) <= testing.LINES_MAX


def message_of(folder: Path, output: str, log: str = "") -> list[str]:
    """Return what `./dev test` shows of a failed native test x with this output, if ctest's log is `log`."""
    report = folder / "ctest.xml"

    def write() -> None:
        report.with_suffix(".log").write_text(log)
        report.write_text(
            f'<testsuite><testcase classname="x" name="x" status="fail"><failure message=""/>\n\t\t<system-out>{output}'
            "</system-out>\n\t</testcase></testsuite>"
        )

    return testing._counted(report, write).message.splitlines()[1:-1]


def test_the_last_lines_are_reported_if_no_line_explains_the_failure(tmp_path: Path) -> None:
    chatter = [f"line {number}" for number in range(1000)]
    lines = message_of(tmp_path, "\n".join([*chatter, "terminate called without an exception", ""]))
    assert lines[0] == "x:"
    assert lines[1:] == [
        *(f"    {line}" for line in chatter[-testing.LINES_MAX + 1 :]),
        "    terminate called without an exception",
    ]


def test_lines_about_tests_that_passed_are_left_out(tmp_path: Path) -> None:
    passed = "\n".join(f"[ RUN      ] X.Y/{n}\n[       OK ] X.Y/{n} (1 ms)" for n in range(100))
    fatal = "==7==LeakSanitizer has encountered a fatal error."
    hint = "==7==HINT: LeakSanitizer does not work under ptrace"
    output = f"{passed}\n[----------] 100 tests from X\n[  PASSED  ] 100 tests.\n{fatal}\n{hint}"
    assert message_of(tmp_path, output) == ["x:", f"    {fatal}", f"    {hint}"]
    assert message_of(tmp_path, f"ends early\n{passed}") == ["x:", "    ends early"]


@pytest.mark.parametrize(
    "line",
    [
        "base/json.cc:12: check failed: ok_",
        "contract_test: the library hangs in scenario D31",
        "Segmentation fault (core dumped)",
        "12/85 Test  #7: harness_test ....***Exception: SegFault  0.10 sec",
        "12/85 Test  #7: harness_test ....***Timeout 900.03 sec",
    ],
)
def test_words_for_crashes_and_hangs_are_found_anywhere(tmp_path: Path, line: str) -> None:
    chatter = "\n".join(f"line {number}" for number in range(100))
    lines = message_of(tmp_path, f"{chatter}\n{line}\n{chatter}")
    assert lines == ["x:", f"    {line}", *(f"    line {n}" for n in range(testing.LINES_AFTER))]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            " 1/85 Test  #7: x ................***Exception: SegFault  0.10 sec",
            "***Exception: SegFault",
        ),
        ("10/85 Test #17: x ...***Timeout 900.03 sec", "***Timeout"),
        (
            " 2/85 Test  #7: x ....Subprocess aborted***Exception:   0.00 sec",
            "Subprocess aborted***Exception:",
        ),
        (" 3/85 Test  #7: x ......................***Failed    0.00 sec", "***Failed"),
    ],
)
def test_the_end_of_a_test_is_reported(tmp_path: Path, words: str, told: str) -> None:
    log = f"Start 7: x\n 1/85 Test  #6: y ........   Passed    0.10 sec\n{words}\n"
    assert message_of(tmp_path, "ok", log)[0] == f"x: {told}"


def test_the_last_lines_before_a_signal_are_reported_besides_other_failures(tmp_path: Path) -> None:
    chatter = "\n".join(f"line {number}" for number in range(100))
    log = "1/1 Test #1: x ...***Exception: SegFault  0.10 sec\n"
    lines = message_of(tmp_path, f"x_test.cc:82: Failure\n{chatter}", log)
    assert lines[1] == "    x_test.cc:82: Failure"
    assert lines[-testing.LINES_AT_END :] == [f"    line {n}" for n in range(90, 100)]


def test_the_first_and_the_last_of_many_failures_are_reported(tmp_path: Path) -> None:
    lines = message_of(tmp_path, "\n".join(f"x_test.cc:{n}: Failure" for n in range(100)))
    assert len(lines) == 1 + testing.LINES_MAX
    assert (lines[1], lines[-1]) == ("    x_test.cc:0: Failure", "    x_test.cc:99: Failure")


def test_a_failure_outside_any_test_is_reported(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"

    def fail() -> None:
        report.write_text('<testsuite><testcase classname="a" name="b" time="0"/></testsuite>')
        raise StepError("nothing was collected")

    outcome = testing._counted(report, fail)
    assert (outcome.passed, outcome.failed) == (1, 1)
    assert outcome.message == "nothing was collected"


def test_a_report_of_an_earlier_run_counts_for_nothing(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    outcome = testing._counted(report, lambda: None)
    assert (outcome.passed, outcome.failed) == (0, 1)
    assert "report.xml" in outcome.message


def test_the_slowest_come_first_and_the_count_comes_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = {"python": outcome_of(tmp_path / "report.xml")}
    timings = Timings({"packages": 1.5})
    testing._show_slowest(outcomes)
    assert testing._table(timings, outcomes) == 1
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("slowest tests")
    assert [line.split() for line in lines[at + 1 : at + 4]] == [
        ["2.5", "s", "python:", "a.b::slow"],
        ["0.5", "s", "python:", "a.b::broken"],
        ["0.2", "s", "python:", "native"],
    ]
    assert ["packages", "1.5"] in [line.split() for line in lines]
    assert lines[-1] == "2 passed, 3 failed"


def test_lanes_run_at_the_same_time_and_a_failure_stops_no_other_lane(
    capsys: pytest.CaptureFixture[str],
) -> None:
    both = threading.Barrier(2, timeout=30)

    def meet() -> Outcome:
        both.wait()
        return Outcome(passed=1)

    def lose() -> Outcome:
        both.wait()
        raise StepError("no sanitizer")

    outcomes = testing._outcomes(
        [
            Suite("asan", lose, lane=1),
            Suite("python", meet),
            Suite("tidy", lambda: Outcome(passed=2), lane=1),
        ]
    )
    assert list(outcomes) == ["asan", "python", "tidy"]
    assert [(o.passed, o.failed) for o in outcomes.values()] == [(0, 1), (1, 0), (2, 0)]
    assert outcomes["asan"].message == "no sanitizer"
    assert "asan: 0 passed, 1 failed" in capsys.readouterr().out


def test_the_next_suite_is_built_while_one_is_tested() -> None:
    both = threading.Barrier(2, timeout=30)

    def meet() -> None:
        both.wait()

    def test() -> Outcome:
        both.wait()
        return Outcome(passed=1)

    outcomes = testing._outcomes([Suite("asan", test), Suite("tsan", Outcome, prepare=meet)])
    assert outcomes["asan"].passed == 1


def test_what_cannot_be_built_is_not_tested() -> None:
    def fail() -> None:
        raise StepError("no compiler")

    def test() -> Outcome:
        raise AssertionError

    outcome = testing._outcomes([Suite("asan", test, prepare=fail)])["asan"]
    assert (outcome.passed, outcome.failed, outcome.message) == (0, 1, "no compiler")
