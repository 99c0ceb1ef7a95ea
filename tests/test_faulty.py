"""Tests what the referee reports about the libraries of tests/faulty.

Most of these libraries have one fault, and others only look suspicious. The real referee plays and judges the sessions,
and the player, the program in the real jail, calls the library. No correctness suite runs before, so the benchmark of
the test must find the fault alone. Usually this is the timed benchmark `sigmod2009`.
"""

from __future__ import annotations

import re
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.referee_run import (
    ROOT,
    SEEDS,
    SLOT,
    Case,
    finding_names,
    plan_of,
    require_root_and_build,
    run_case,
    run_plan,
)

if TYPE_CHECKING:
    from pathlib import Path

FIRST_UID = 60_000
HANG_MS = 1_500

# Each entry: library, expected verdict, findings that the report must have, words that its reason must contain.
WRONG = [
    ("success_only", "failed", {"impossible_record", "wrong_delete"}, ""),
    ("drops_1000th_write", "failed", {"missing_record"}, ""),
    ("denies_deletes", "failed", {"wrong_delete"}, ""),
    ("garbage_codes", "failed", {"illegal_answer"}, "undocumented code 77"),
    ("wrong_payload", "failed", {"impossible_record"}, ""),
    ("flips_high_half", "failed", {"impossible_record"}, ""),
    ("loses_aborts", "failed", {"impossible_record"}, ""),
    ("unsorted_scan", "failed", {"scan_order"}, "getNext must return keys in ascending order"),
    ("skips_by_caller", "failed", {"impossible_record"}, ""),
    ("throws_exception", "failed", {"exception"}, "the contract forbids this"),
    ("missing_symbol", "failed", {"missing_symbol"}, "does not export deleteRecord"),
    ("forges_done", "failed", {"protocol_violation"}, "wrong nonce"),
    ("early_done", "failed", {"outcome_mismatch"}, ""),
    ("crash_in_constructor", "crashed", {"crashed"}, "SIGSEGV while the library was loaded"),
    ("crashes_while_loading", "crashed", {"crashed"}, "SIGSEGV while the library was loaded"),
    ("exit_in_constructor", "crashed", {"crashed"}, "exit code 0 while the library was loaded"),
    ("forged_stdout", "crashed", {"crashed"}, "ended with exit code 0"),
    ("closes_descriptors", "crashed", {"crashed"}, ""),
    ("crashes_when_large", "crashed", {"crashed"}, "SIGSEGV"),
    ("memory_hog", "out_of_memory", {"out_of_memory"}, "memory limit"),
]

# Libraries that leave work for later, or answer from an old state for a while. The final scan, which reads all records
# after the timed phases, finds nothing wrong in them. Each entry: library, benchmark, instance, and a finding that the
# report must have.
LATE = [
    ("forgets_until_scan", "inserts", "bulk_random", "missing_record"),
    ("forgets_until_scan", "insert_ratio", "inserts_100", "missing_record"),
    ("stale_for_a_while", "ycsb", "int64_a", "impossible_record"),
    ("scans_old_index", "inserts", "bulk_random", "missing_record"),
]

# These libraries look suspicious, or try calls that the jail refuses, but work correctly. They must pass.
RIGHT = [
    "honest",
    "honest_heavy",
    "floods_output",
    "forks_in_create",
    "opens_socket",
    "patches_clock",
    "reads_shadow",
    "scribbles_slot",
    "seeks_keys",
    "slowed_20",
    "stray_thread",
    "tells_cpus",
]


@pytest.fixture(autouse=True)
def real_jail() -> None:
    require_root_and_build()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("library", "verdict", "findings", "words"), WRONG)
def test_wrong_library_is_found_out(
    library: str, verdict: str, findings: set[str], words: str, seed: str, tmp_path: Path
) -> None:
    report = run_case(Case(library, seed=seed), tmp_path)
    assert report["verdict"] == verdict, report["reason"]
    assert findings <= finding_names(report)
    assert words in report["reason"]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("library", RIGHT)
def test_honest_library_passes_unharmed(library: str, seed: str, tmp_path: Path) -> None:
    report = run_case(Case(library, seed=seed), tmp_path)
    assert (report["verdict"], report["reason"]) == ("passed", "")
    assert finding_names(report) == set()
    metrics = report["metrics"]
    assert metrics["transactions_completed"] == metrics["transactions_planned"] > 0
    assert metrics["transactions_failed"] == 0
    assert report["jail"]["level"] == "full"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("library", "benchmark", "instance", "finding"), LATE)
def test_work_that_is_put_off_is_found_while_the_clock_runs(
    library: str, benchmark: str, instance: str, finding: str, seed: str, tmp_path: Path
) -> None:
    report = run_case(Case(library, benchmark, instance, seed=seed), tmp_path)
    assert report["verdict"] == "failed", report["reason"]
    assert finding in finding_names(report)
    assert 'phase "run"' in report["reason"]


def test_only_read_backs_find_inserts_that_are_put_off_until_the_final_scan(tmp_path: Path) -> None:
    # A plain session has no read-backs, which are extra reads of records that the session has inserted.
    late = Case("forgets_until_scan", "inserts", "bulk_random", plain=True)
    assert run_case(late, tmp_path)["verdict"] == "passed"


@pytest.mark.parametrize("library", ["hang_in_create", "spin_for_ever"])
def test_library_that_never_ends_is_stopped(library: str, tmp_path: Path) -> None:
    started = time.monotonic()
    report = run_case(Case(library, phase_timeout_ms=HANG_MS), tmp_path)
    assert report["verdict"] == "timed_out"
    # The reason may name any thread, because the schedule decides which threads are still running.
    assert re.search(r"thread \d+ is at operation \d+", report["reason"])
    (hang,) = (entry for entry in report["findings"] if entry["name"] == "hang")
    assert re.search(r"\nthread \d+: \w+\(.*\) \(operation \d+\) has not returned", hang["detail"])
    assert re.search(r"\n  stack: .*library\.so\+0x", hang["detail"])
    assert time.monotonic() - started < HANG_MS / 1000 + 30


@pytest.mark.parametrize("verified", [False, True])
def test_library_that_uses_up_the_cpu_time_of_the_session_shows_where(
    verified: bool, tmp_path: Path
) -> None:
    # On a busy machine, a further thread could still advance when the CPU time is used up. The finding would then be
    # `too_slow`. Therefore the session has only one thread.
    case = Case("spin_for_ever", verified=verified, parameters={"threads": 1})
    plan = plan_of(case)
    plan["jail"]["cpu_seconds"] = 2
    report = run_plan(plan, tmp_path).report
    assert report is not None
    assert report["verdict"] == "timed_out"
    assert report["reason"].startswith(
        "the library's process reached its limit of 2 s of CPU time (jail.cpu_seconds) while"
    )
    (hang,) = (entry for entry in report["findings"] if entry["name"] == "hang")
    assert re.search(r"\nthread \d+: insertRecord\(.*\) \(operation \d+\) has not", hang["detail"])
    assert re.search(r"\n  stack: .*library\.so\+0x", hang["detail"])
    # The referee ended the session, because the jail's own limit is longer.
    assert report["jail"]["status"] == "killed"
    assert report["jail"]["cpu_us"] < 10_000_000


def test_library_that_takes_all_memory_shows_in_which_call(tmp_path: Path) -> None:
    report = run_case(Case("memory_hog"), tmp_path)
    (hog,) = (entry for entry in report["findings"] if entry["name"] == "out_of_memory")
    assert re.search(r"\nthread \d+: create\(.*\) \(operation \d+\) was running", hog["detail"])


def test_library_that_ends_the_process_shows_in_which_call(tmp_path: Path) -> None:
    report = run_case(Case("forged_stdout"), tmp_path)
    (crash,) = (entry for entry in report["findings"] if entry["name"] == "crashed")
    assert re.search(r"\nthread \d+: \w+\(.*\) \(operation \d+\) was running", crash["detail"])


@pytest.mark.parametrize(
    ("benchmark", "instance", "scale"),
    [
        ("sigmod2009", "preliminary1", "smoke"),
        ("isolation", "isolation", "smoke"),
        # unit makes the same calls at each scale, but may take 120 s at paper scale and 10 s at smoke scale. On a busy
        # machine 10 s are too few, and the verdict would be infrastructure.
        ("unit", "unit", "paper"),
    ],
)
def test_library_without_progress_is_reported_before_the_time_limit(
    benchmark: str, instance: str, scale: str, tmp_path: Path
) -> None:
    report = run_case(Case("always_deadlock", benchmark, instance, scale=scale), tmp_path)
    if "Other programs kept a thread of the run" in report["reason"]:
        # The machine is so busy that the time limit comes first. Then the verdict must not blame the library.
        assert report["verdict"] == "infrastructure"
        return
    assert report["verdict"] == "failed"
    assert "no_progress" in finding_names(report)


def test_phantoms_are_found_by_the_phantom_benchmark(tmp_path: Path) -> None:
    # The reader makes many passes, so that the writer runs at the same time even on a busy machine.
    case = Case("allows_phantoms", "phantom", "phantom", parameters={"passes": 5_000})
    report = run_case(case, tmp_path)
    assert report["verdict"] == "failed"
    assert "phantom" in finding_names(report)


def test_recorded_run_shows_what_went_wrong(tmp_path: Path) -> None:
    # With one index and few keys, threads usually compete for the same gaps. On a busy machine the threads may hardly
    # overlap. The checker, which judges recorded calls, may then find no serial order, but not be able to prove that
    # there is none. So the test tries several seeds.
    hot = {"indices": 1, "inserts_per_thread": 50, "tests_per_thread": 1500}
    for seed in range(1, 21):
        case = Case("allows_phantoms", record=True, parameters=hot, seed=f"{seed:016x}")
        report = run_case(case, tmp_path)
        assert report["record"]
        if report["verdict"] == "failed":
            break
        assert report["reason"].startswith("could not judge: the checker found no serial order")
    assert report["verdict"] == "failed"
    shown = {entry["name"] for entry in report["findings"] if "witness" in entry}
    assert shown & {"phantom", "read_skew", "write_skew"}


def test_recorded_run_of_an_honest_library_is_certified(tmp_path: Path) -> None:
    report = run_case(Case("honest", record=True), tmp_path)
    assert (report["verdict"], report["reason"], report["record"]) == ("passed", "", True)


@pytest.mark.parametrize("benchmark", ["unit", "phantom"])
def test_honest_library_passes_the_correctness_benchmarks(benchmark: str, tmp_path: Path) -> None:
    report = run_case(Case("honest", benchmark, benchmark), tmp_path)
    assert (report["verdict"], report["reason"]) == ("passed", "")


def test_plain_stream_passes_too(tmp_path: Path) -> None:
    report = run_case(Case("honest", plain=True), tmp_path)
    assert (report["verdict"], report["plain"]) == ("passed", True)


def test_refused_configuration_is_unsupported(tmp_path: Path) -> None:
    report = run_case(Case("refuses_configuration", configuration={"latch": "htm"}), tmp_path)
    assert report["verdict"] == "unsupported"
    assert "needs a machine with transactional memory" in report["reason"]


def test_configuration_for_a_library_that_takes_none_is_unsupported(tmp_path: Path) -> None:
    report = run_case(Case("honest", configuration={"latch": "rw"}), tmp_path)
    assert report["verdict"] == "unsupported"
    assert "keydrome_configure" in report["reason"]


def test_output_is_kept_capped_and_never_believed(tmp_path: Path) -> None:
    forged = run_case(Case("forged_stdout"), tmp_path)
    assert '"verdict": "passed"' in forged["output"]["stdout"]
    assert forged["verdict"] == "crashed"
    flood = run_case(Case("floods_output"), tmp_path)
    assert flood["output"]["truncated"]
    assert len(flood["output"]["stdout"]) < 5_000


def test_patched_clock_changes_nothing_that_counts(tmp_path: Path) -> None:
    started = time.monotonic()
    report = run_case(Case("patches_clock"), tmp_path)
    elapsed_ms = (time.monotonic() - started) * 1000
    assert 0 < report["metrics"]["total_ms"] < elapsed_ms
    cpu_ms = report["metrics"]["cpu_us"] / 1000
    assert report["metrics"]["total_ms"] * 64 > cpu_ms > 0


def test_no_leftovers_remain(tmp_path: Path) -> None:
    run_case(Case("stray_thread"), tmp_path)
    run_case(Case("hang_in_create", phase_timeout_ms=300), tmp_path)
    uid = str(FIRST_UID + SLOT)
    left = subprocess.run(["ps", "-u", uid, "-o", "pid="], check=False, capture_output=True)
    assert left.stdout.strip() == b""


# Libraries for the gate, the correctness benchmarks that a library must pass before it is ranked. Each entry: library,
# instance of the benchmark scenarios, verdict, a required finding, words of this finding.
GATE_WRONG = [
    ("leaks_large_aborts", "crowds", "failed", "large_abort", "S95b"),
    ("crashes_in_large_aborts", "crowds", "crashed", "crashed", "abortTransaction"),
    ("crashes_on_long_names", "names", "crashed", "crashed", 'create("S92b'),
    ("only_letters", "keys", "crashed", "crashed", 'insertRecord("S77'),
    ("caches_per_thread", "transactions", "failed", "corrupt_payload", "S42"),
    ("scans_without_lock", "anomalies", "failed", "dirty_read", "S4b"),
    ("deletes_by_place", "anomalies", "failed", "lost_update", "S25c"),
    # The instance misuse gives only warnings for misuse, but these faults show in legal calls.
    ("hang_in_create", "misuse", "timed_out", "hang", "create("),
    ("crashes_in_large_aborts", "extremes", "crashed", "crashed", "abortTransaction"),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("library", "instance", "verdict", "finding", "words"), GATE_WRONG)
def test_the_gate_requires_what_clients_could_rely_on(
    library: str, instance: str, verdict: str, finding: str, words: str, seed: str, tmp_path: Path
) -> None:
    case = Case(library, "scenarios", instance, phase_timeout_ms=HANG_MS * 4, seed=seed)
    report = run_case(case, tmp_path)
    assert report["verdict"] == verdict, report["findings"]
    assert finding in finding_names(report), report["findings"]
    assert any(words in f["detail"] for f in report["findings"] if f["name"] == finding)


@pytest.mark.parametrize(
    ("benchmark", "instance"), [("ycsb", "int64_a"), ("sigmod2009", "vary_high")]
)
def test_timed_runs_do_not_find_old_states_of_shared_keys(
    benchmark: str, instance: str, tmp_path: Path
) -> None:
    """By chance, a run may find a read of an old state. So the test requires only that one of several seeds passes."""
    seeds = [f"5eed5eed5eed{number:04x}" for number in range(5)]
    cases = (Case("caches_per_thread", benchmark, instance, seed=seed) for seed in seeds)
    assert any(run_case(case, tmp_path)["verdict"] == "passed" for case in cases)


# Each entry: library, kinds of transactions that leak, kinds that do not, and bounds of the bytes per transaction.
# Conflicts are left out, because how often they occur depends on the machine.
LEAKS = [
    (
        "leaks_at_begin",
        ("commits changes", "aborts", "only reads", "opens and closes an index"),
        (),
        (40, 140),
    ),
    ("leaks_at_abort", ("aborts",), ("commits changes", "only reads"), (60, 160)),
    ("leaks_at_failed_commit", ("commits changes", "only reads"), ("aborts",), (1000, 10_000)),
]


@pytest.mark.parametrize(("library", "kinds", "others", "bounds"), LEAKS)
def test_memory_that_grows_with_every_transaction_is_a_warning(
    library: str,
    kinds: tuple[str, ...],
    others: tuple[str, ...],
    bounds: tuple[int, int],
    tmp_path: Path,
) -> None:
    report = grown(library, tmp_path)
    assert report["verdict"] == "passed", report["findings"]
    (growth,) = (f for f in report["findings"] if f["name"] == "memory_growth")
    assert growth["severity"] == "advisory"
    first = growth["detail"].splitlines()[0]
    for kind in kinds:
        assert re.search(rf"every transaction that {kind}, by \d+ bytes", first), growth["detail"]
    for kind in others:
        assert f"transaction that {kind}, by" not in first, growth["detail"]
    assert bounds[0] <= report["metrics"]["growth_per_transaction"] <= bounds[1]


def grown(library: str, tmp_path: Path) -> dict[str, Any]:
    """Return a report with the warning, if one of a few seeds gives one.

    A part of the measurement ends after 60 ms. On a busy machine it may then have too few transactions.
    """
    for seed in (digit * 16 for digit in "12345678"):
        report = run_case(Case(library, "scenarios", "extremes", seed=seed), tmp_path)
        if "memory_growth" in finding_names(report, "advisory"):
            break
    return report


@pytest.mark.parametrize("library", ["honest", "honest_heavy"])
def test_a_library_that_frees_its_memory_has_no_such_warning(library: str, tmp_path: Path) -> None:
    report = run_case(Case(library, "scenarios", "extremes"), tmp_path)
    assert "memory_growth" not in finding_names(report, "advisory"), report["findings"]
    assert report["metrics"]["growth_per_transaction"] == 0


def test_a_handle_with_an_old_address_is_no_forgery(tmp_path: Path) -> None:
    """Scenario S59, a scripted test, closes an index and opens it again. The new handle may have the old address.

    The judge must not take the old address for a forgery, although this library then ends the commit with DEADLOCK.
    """
    report = run_case(Case("leaks_at_failed_commit", "scenarios", "transactions"), tmp_path)
    assert report["verdict"] == "passed", report["findings"]


def test_a_repeated_record_is_not_taken_for_an_anomaly(tmp_path: Path) -> None:
    found: set[str] = set()
    for benchmark, instance in [("phantom", "phantom"), ("scenarios", "crowds")]:
        found |= finding_names(run_case(Case("repeats_records", benchmark, instance), tmp_path))
    assert "duplicate_record" in found
    assert not found & {"phantom", "torn_transaction", "torn_commit", "read_skew", "create_race"}


@pytest.mark.parametrize("instance", ["preliminary1", "vary_low", "double_lookup"])
def test_a_library_that_knows_only_the_keys_of_2009_passes_its_benchmarks(
    instance: str, tmp_path: Path
) -> None:
    report = run_case(Case("only_letters", "sigmod2009", instance), tmp_path)
    assert (report["verdict"], report["reason"]) == ("passed", "")


@pytest.mark.parametrize(
    ("benchmark", "instance"),
    [
        ("unit", "unit"),
        ("phantom", "phantom"),
        ("differential", "differential"),
        ("isolation", "isolation"),
        ("scenarios", "anomalies"),
        ("scenarios", "transactions"),
        ("scenarios", "visibility"),
        ("scenarios", "crowds"),
        ("scenarios", "extremes"),
    ],
)
def test_other_keys_are_asked_once(benchmark: str, instance: str, tmp_path: Path) -> None:
    report = run_case(Case("only_letters", benchmark, instance), tmp_path)
    assert (report["verdict"], report["reason"]) == ("passed", "")


def test_every_library_has_a_case() -> None:
    named = {entry[0] for entry in WRONG} | {name.removesuffix("_20") for name in RIGHT}
    named |= {"hang_in_create", "spin_for_ever", "always_deadlock"}
    named |= {"hang_in_constructor", "hides_its_stack"}  # harness/tests/hang_test.cc
    named |= {"allows_phantoms", "refuses_configuration"}
    named |= {name for name, *_ in GATE_WRONG} | {"hang_in_create", "crashes_on_misuse"}
    named |= {library for library, *_ in LEAKS} | {"repeats_records"}
    named |= {"skips_with_two_handles"}  # test_differential.py
    # test_gate_time.py
    named |= {"fails_always", "slow_calls", "does_nothing", "sleeps_in_calls", "deadlocks_at_begin"}
    named |= {"forgets_until_scan", "stale_for_a_while", "scans_old_index"}
    named |= {"mutant_setup", "mutant_runtime"}  # parts of every mutant: test_mutants.py
    sources = (ROOT / "tests" / "faulty").glob("*.c*")
    linked = {"success_only"}  # made of the source of indexes/null
    assert {path.stem for path in sources} | linked == named
