"""Tests hostile programs that try to leave the jail, outlive it or use too much: the jail must stop and report them."""

import os
import resource
import socket
import subprocess
from pathlib import Path

import pytest

from jail.tests.jailing import BACKENDS, HOSTILE, Jails, jailed_processes

UNFILTERED = ["--require", "none", "--without", "seccomp"]


@pytest.mark.parametrize(
    "program",
    [
        "fork_bomb",
        "network",
        "read_outside",
        "write_outside",
        "ptrace",
        "kill_all",
        "fd_flood",
        "new_process",
        "kernel_surface",
        "kernel_work",
        "after_tighten",
        "filter_of_its_own",
    ],
)
def test_every_attempt_is_refused(jails: Jails, program: str) -> None:
    outcome = jails.run(program)
    assert outcome.code == 0, outcome.stderr
    assert outcome.meta["status"] == "exited", outcome.stdout
    assert outcome.meta["exit_code"] == "0", outcome.stdout
    assert outcome.stdout.endswith("refused\n")


def test_code_is_sealed_if_the_kernel_has_mseal(jails: Jails) -> None:
    lines = jails.run("after_tighten").stdout.splitlines()
    layers = next(int(line.split()[1]) for line in lines if line.startswith("layers "))
    kernel = tuple(int(number) for number in os.uname().release.split(".")[:2])
    assert bool(layers & 8) == (kernel >= (6, 10))


def test_the_attempts_notice_holes(jails: Jails) -> None:
    """Tests the programs themselves: without the system call filter, they must report attempts that succeed."""
    for program in ("network", "kernel_surface", "kernel_work"):
        outcome = jails.run(program, options=UNFILTERED)
        assert "HOLE" in outcome.stdout
        assert outcome.meta["exit_code"] == "1"


def test_network_namespace_is_separate(jails: Jails) -> None:
    """Even without the system call filter, a jailed program cannot reach a listener of the host."""
    name = f"keydrome-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0" + name)
        listener.listen()
        outside = subprocess.run([HOSTILE / "abstract_socket", name], check=False)
        assert outside.returncode == 1, "outside the jail the attempt must succeed"
        inside = jails.run("abstract_socket", name, options=UNFILTERED)
    assert inside.meta["exit_code"] == "0", inside.stdout


@pytest.mark.parametrize("table", ["i386", "x32"])
def test_calls_of_another_architecture_kill(jails: Jails, table: str) -> None:
    meta = jails.run("foreign_call", table).meta
    assert meta["status"] == "signaled"
    assert meta["signal"] == "31"


@BACKENDS
def test_fork_bomb_meets_the_limit(jails: Jails, backend: list[str]) -> None:
    options = [*UNFILTERED, *backend, "--processes", "50"]
    outcome = jails.run("fork_bomb", "allowed", options=options)
    assert outcome.stdout.endswith("refused\n")
    assert outcome.meta["processes_left"] == "49"


def test_thread_bomb_meets_the_limit(jails: Jails) -> None:
    outcome = jails.run("thread_bomb", options=["--processes", "40"])
    assert outcome.stdout == "threads 39\nrefused\n"


def test_memory_hog_is_killed_by_the_limit(jails: Jails) -> None:
    outcome = jails.run("memory_hog", options=["--memory-bytes", str(32 << 20)])
    assert outcome.meta["status"] == "out_of_memory"
    assert int(outcome.meta["oom_kills"]) >= 1  # with v2 the kernel kills the whole group
    assert int(outcome.meta["memory_peak_bytes"]) <= 32 << 20


@BACKENDS
def test_huge_pages_count_as_memory(jails: Jails, backend: list[str]) -> None:
    """The control group counts transparent huge pages, but not reserved ones. So the jail refuses reserved ones."""
    options = [*backend, "--memory-bytes", str(32 << 20)]
    outcome = jails.run("memory_hog", "huge", options=options)
    assert outcome.meta["status"] == "out_of_memory", outcome.meta
    modes = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text()
    assert ("huge" in outcome.stdout) == ("[never]" not in modes), (modes, outcome.stdout)


def test_working_directory_is_bounded(jails: Jails) -> None:
    outcome = jails.run("disk_fill", options=["--tmpfs-bytes", str(1 << 20)])
    lines = dict(line.split() for line in outcome.stdout.splitlines() if " " in line)
    assert outcome.stdout.endswith("refused\n"), outcome.stdout
    assert int(lines["bytes"]) <= 1 << 20
    assert int(lines["files"]) <= 16384


def test_working_directory_counts_as_memory(jails: Jails) -> None:
    options = ["--tmpfs-bytes", str(256 << 20), "--memory-bytes", str(16 << 20)]
    assert jails.run("disk_fill", options=options).meta["status"] == "out_of_memory"


def test_deep_recursion_hits_the_stack_limit(jails: Jails) -> None:
    meta = jails.run("deep_recursion", options=["--stack-bytes", str(1 << 20)]).meta
    assert meta["status"] == "signaled"
    assert meta["signal"] == "11"
    assert int(meta["memory_peak_bytes"]) < 8 << 20


def test_output_flood_ends_when_the_reader_closes(jails: Jails) -> None:
    started = jails.start("output_flood")
    stdout = started.process.stdout
    assert stdout is not None
    assert len(stdout.read(65536)) == 65536
    stdout.close()
    started.process.stdout = None
    outcome = started.finish()
    assert outcome.meta["status"] == "signaled"
    assert outcome.meta["signal"] == "13"


def test_unread_output_flood_meets_the_deadline(jails: Jails) -> None:
    started = jails.start("output_flood", options=["--wall-ms", "200"])
    started.process.wait(timeout=30)
    assert started.finish().meta["status"] == "timed_out"


@pytest.mark.parametrize(
    "backend",
    [[], ["--without", "unified"], ["--without", "cgroup"]],
    ids=["as_it_is", "without_unified", "without_cgroup"],
)
def test_stray_processes_die_with_the_program(jails: Jails, backend: list[str]) -> None:
    outcome = jails.run("stray_process", options=[*UNFILTERED, *backend])
    assert outcome.meta["status"] == "exited"
    assert outcome.meta["exit_code"] == "0"
    assert outcome.meta["processes_left"] == "2"
    assert jailed_processes() == []


@pytest.mark.parametrize(
    "options",
    [[], ["--without", "unified"], ["--require", "weak", "--without", "cgroup"]],
    ids=["as_it_is", "without_unified", "without_cgroup"],
)
def test_honest_library_runs_unharmed(jails: Jails, options: list[str]) -> None:
    outcome = jails.run("honest", options=[*options, "--memory-bytes", str(1 << 30)])
    assert outcome.stdout == "honest\n"
    assert outcome.meta["exit_code"] == "0"


def test_descriptors_of_the_caller_stay_outside(jails: Jails) -> None:
    """Descriptors that --pass-fd does not name must be closed in the jail, even those with high numbers."""
    high = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 1
    low = os.open("/etc/passwd", os.O_RDONLY)
    os.dup2(low, high, inheritable=True)
    try:
        assert "descriptors 0 1 2" in jails.run("surroundings").stdout.splitlines()
    finally:
        os.close(low)
        os.close(high)
