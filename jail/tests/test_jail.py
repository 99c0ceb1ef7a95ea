"""Tests a jailed program's surroundings, the end of a run, commands, isolation levels and the jail's meta lines.

Meta lines are lines KEY:VALUE, in which a jail reports how the program ended. A slot is the number that gives a jail
its own user and control groups; only one jail at a time may use a slot.
"""

import errno
import os
import re
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from jail.tests.jailing import (
    BACKENDS,
    FIRST_SLOT,
    FIRST_UID,
    HOSTILE,
    JAIL,
    REPLY,
    Jails,
    Started,
    groups,
    jailed_processes,
    until,
)

COUNTERS = slice(6, 15)  # of a reply's fields: the counters of the option --counters
HARDWARE, PAGE_FAULTS, CONTEXT_SWITCHES = slice(0, 4), 6, 7
UNKNOWN = 2**64 - 1
FULL = {"namespaces", "root", "uid", "capabilities", "no_new_privs", "rlimits", "seccomp"}
LIMITS = {"memory", "pids", "cpu_time", "freeze"}


def ask(channel: socket.socket, command: bytes) -> tuple[int, ...]:
    """Send a command to a jail and return the fields of the reply, in the order of struct keydrome_jail_reply."""
    channel.send(command)
    return REPLY.unpack(channel.recv(REPLY.size))


def reads_of(started: Started) -> int:
    """Return how many times the jail has called read."""
    lines = Path(f"/proc/{started.process.pid}/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["syscr"])


def test_an_ordinary_program(jails: Jails) -> None:
    outcome = jails.run("idle")
    assert outcome.code == 0, outcome.stderr
    assert outcome.meta["status"] == "exited"
    assert outcome.meta["exit_code"] == "0"
    assert outcome.meta["processes_left"] == "0"
    assert outcome.meta["oom_kills"] == "0"
    assert int(outcome.meta["wall_us"]) > 0
    assert outcome.stderr == ""


def test_exit_code_is_passed_on(jails: Jails) -> None:
    assert jails.run("idle", "1", "2", "3").meta["exit_code"] == "3"


def test_full_level_has_every_mechanism(jails: Jails) -> None:
    meta = jails.run("idle", options=["--require", "full"]).meta
    assert meta["level"] == "full"
    assert set(meta["mechanisms"].split(",")) >= FULL | LIMITS
    assert int(meta["cpu_us"]) > 0
    assert int(meta["memory_peak_bytes"]) > 0


def test_surroundings(jails: Jails) -> None:
    uid = FIRST_UID + FIRST_SLOT
    lines = jails.run("surroundings").stdout.splitlines()
    folders = [name for name in ("lib", "lib64") if Path("/", name).exists()]
    assert [line for line in lines if line.startswith("environment")] == [
        "environment PATH=/bin",
        "environment LC_ALL=C",
    ]
    assert "host jail" in lines
    assert "folder /work" in lines
    assert "process 2 1" in lines
    assert "standard input 0" in lines
    assert "descriptors 0 1 2" in lines
    assert "no_new_privs 1" in lines
    assert "groups 0" in lines
    assert f"ids {uid} {uid} {uid} {uid}" in lines
    assert f"/ dev {' '.join(folders)} program usr work" in lines
    assert "/dev null urandom zero" in lines
    assert "/work" in lines
    assert "limit files 4096 4096" in lines
    assert "limit address_space -1 -1" in lines
    assert "limit memlock 0 0" in lines


def test_no_capability_is_left(jails: Jails) -> None:
    options = ["--require", "none", "--without", "seccomp"]
    lines = jails.run("surroundings", options=options).stdout.splitlines()
    assert "capabilities 0 0" in lines
    assert "bounding 0" in lines


def test_passed_descriptor_is_the_only_other(jails: Jails) -> None:
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            started = jails.start(
                "surroundings",
                options=["--pass-fd", str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
            )
            number = theirs.fileno()
        assert ours.recv(1) == b"", "the program and the jail have closed the descriptor"
        assert f"descriptors 0 1 2 {number}" in started.finish().stdout.splitlines()


def ignore_children() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def block_everything() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


def close_standard_descriptors() -> None:
    os.closerange(0, 3)


def forbid_reading() -> None:
    os.umask(0o777)


@pytest.mark.parametrize(
    "setting", [ignore_children, block_everything, close_standard_descriptors, forbid_reading]
)
def test_settings_of_the_caller_are_not_inherited(
    jails: Jails, setting: Callable[[], None]
) -> None:
    reading, writing = os.pipe()
    command = [str(JAIL), "--slot", str(FIRST_SLOT), "--meta-fd", str(writing)]
    command += ["--bind", f"{HOSTILE / 'habits'}:/program", "--", "/program"]
    done = subprocess.run(command, pass_fds=(writing,), preexec_fn=setting, check=False)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        lines = pipe.read().splitlines()
    assert done.returncode == 0
    assert "status:exited" in lines
    assert "exit_code:7" in lines


def test_a_report_that_cannot_be_written_says_why(jails: Jails) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [
                *(JAIL, "--slot", str(FIRST_SLOT), "--meta-fd", str(full.fileno())),
                *("--bind", f"{HOSTILE / 'habits'}:/program", "--", "/program"),
            ],
            pass_fds=(full.fileno(),),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "cannot write the jail's report to descriptor" in done.stderr
    assert "No space left on device" in done.stderr


def test_crash_leaves_no_core(jails: Jails) -> None:
    outcome = jails.run("crash")
    assert outcome.code == 0
    assert outcome.meta["status"] == "signaled"
    assert outcome.meta["signal"] == "6"


def test_check_prints_what_the_machine_offers(jails: Jails) -> None:
    done = subprocess.run(
        [JAIL, "--check", "--slot", str(FIRST_SLOT), "--cpus", "0"],
        capture_output=True,
        text=True,
        check=True,
    )
    facts = dict(line.split(":", 1) for line in done.stdout.splitlines())
    assert facts["level"] in {"full", "weak"}
    assert facts["cgroup"] in {"hybrid", "v1", "v2", "none"}
    assert set(facts["mechanisms"].split(",")) >= FULL


@pytest.mark.parametrize(
    ("without", "level", "missing"),
    [
        ("cgroup", "weak", {"memory", "pids", "cpu_time", "freeze", "kill"}),
        ("seccomp", "none", {"seccomp"}),
        ("nosymfollow", "full", {"nosymfollow"}),
        ("unified", "full", {"kill"}),
    ],
)
def test_less_is_reported(jails: Jails, without: str, level: str, missing: set[str]) -> None:
    meta = jails.run("idle", options=["--require", "none", "--without", without]).meta
    assert meta["status"] == "exited"
    assert meta["level"] == level
    assert set(meta["missing"].split(",")) >= missing


@pytest.mark.parametrize(
    ("require", "without"), [("full", "cgroup"), ("full", "seccomp"), ("weak", "seccomp")]
)
def test_less_than_required_is_refused(jails: Jails, require: str, without: str) -> None:
    outcome = jails.run("spin", options=["--require", require, "--without", without])
    assert outcome.code == 3
    assert outcome.stdout == "", "the program must not have been started"
    assert f"level {require} is required" in outcome.stderr
    assert outcome.meta["status"] == "refused"
    assert f"level {require} is required" in outcome.meta["error"]


def test_cpu_deadline_without_cgroups(jails: Jails) -> None:
    options = ["--require", "weak", "--without", "cgroup", "--cpu-seconds", "1"]
    assert jails.run("spin", options=options).meta["status"] == "cpu_exceeded"


def test_wall_deadline(jails: Jails) -> None:
    outcome = jails.run("sleep_for_ever", options=["--wall-ms", "200"])
    assert outcome.code == 0
    assert outcome.meta["status"] == "timed_out"
    assert int(outcome.meta["wall_us"]) >= 200_000


def test_cpu_deadline_holds_against_blocked_signals(jails: Jails) -> None:
    outcome = jails.run("spin", options=["--cpu-seconds", "1", "--wall-ms", "30000"])
    assert outcome.meta["status"] == "cpu_exceeded"
    assert 1_000_000 <= int(outcome.meta["cpu_us"]) <= 2_000_000


def test_counters_see_every_thread(jails: Jails) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            options = ["--command-fd", str(theirs.fileno()), "--counters"]
            command = [
                "contended",
                "2",
                "1000000000",
            ]  # two threads that never finish and contend for locks
            started = jails.start(*command, options=options, pass_fds=(theirs.fileno(),))
        # The main thread only waits, and causes few context switches. So more than 100 come from the other threads.
        until(lambda: 100 < ask(ours, b"U")[COUNTERS][CONTEXT_SWITCHES] < UNKNOWN, "threads wait")
        first, second = (ask(ours, b"U")[COUNTERS] for _ in range(2))
        assert first[PAGE_FAULTS] > 10
        assert all(before <= after for before, after in zip(first, second, strict=True))
        # A machine offers either all or none of the processor's counters. Most virtual machines offer none.
        assert len({count == UNKNOWN for count in first[HARDWARE]}) == 1
        assert 0 not in first[HARDWARE]
        ask(ours, b"K")
        assert started.finish().meta["status"] == "killed"


def test_without_the_option_nothing_is_counted(jails: Jails) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            options = ["--command-fd", str(theirs.fileno())]
            started = jails.start("spin", options=options, pass_fds=(theirs.fileno(),))
        started.wait_until_running()
        assert set(ask(ours, b"K")[COUNTERS]) == {UNKNOWN}
        assert started.finish().meta["status"] == "killed"


@BACKENDS
def test_commands(jails: Jails, backend: list[str]) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            options = ["--command-fd", str(theirs.fileno()), *backend]
            started = jails.start("spin", options=options, pass_fds=(theirs.fileno(),))
        started.wait_until_running()
        until(lambda: ask(ours, b"U")[2] > 20_000, "CPU time passes")
        frozen = ask(ours, b"F")
        assert frozen[:2] == (ord("F"), 0)
        # The kernel reports a thread as frozen just before the thread leaves its processor, and adds the thread's last
        # time slice to the CPU time later.
        until(lambda: ask(ours, b"U")[2] == ask(ours, b"U")[2], "the last slice is counted")
        later = [ask(ours, b"U") for _ in range(200)]
        assert {reply[2] for reply in later} == {later[0][2]}, "nothing runs while frozen"
        assert later[0][3] > 0
        assert later[0][4] >= later[0][3]
        assert ask(ours, b"T")[1] == 0
        until(lambda: ask(ours, b"U")[2] > later[0][2], "CPU time passes again")
        assert ask(ours, b"?")[1] == 22
        assert ask(ours, b"K")[1] == 0
        assert started.finish().meta["status"] == "killed"


@BACKENDS
def test_a_freeze_that_never_ends_is_polled_slowly(jails: Jails, backend: list[str]) -> None:
    """A bind mount hides the file with the group's state, so the jail never sees that the group is frozen."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            options = ["--command-fd", str(theirs.fileno()), *backend]
            started = jails.start("spin", options=options, pass_fds=(theirs.fileno(),))
        started.wait_until_running()
        mine = [Path(group) for group in groups()]
        v2 = next((group for group in mine if (group / "cgroup.freeze").exists()), None)
        other = v2.parent / f"keydrome-test-{os.getpid()}" if v2 else None
        if v2 and other:
            other.mkdir()
            hidden, cover = v2 / "cgroup.events", other / "cgroup.events"
        else:
            hidden = next(
                group / "freezer.state" for group in mine if (group / "freezer.state").exists()
            )
            cover = Path("/dev/null")
        subprocess.run(["mount", "--bind", cover, hidden], check=True)
        try:
            before = reads_of(started)
            assert ask(ours, b"F")[1] == errno.ETIMEDOUT
            # The jail reads the state about 2,000 times in two seconds, with two system calls each.
            assert reads_of(started) - before < 10_000
        finally:
            subprocess.run(["umount", hidden], check=True)
            if other:
                other.rmdir()
        assert ask(ours, b"T")[1] == 0
        ask(ours, b"K")
        assert started.finish().meta["status"] == "killed"


@BACKENDS
@pytest.mark.parametrize("command", [b"", b"F"])
def test_caller_closes_the_channel(jails: Jails, backend: list[str], command: bytes) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            options = ["--command-fd", str(theirs.fileno()), *backend]
            started = jails.start("spin", options=options, pass_fds=(theirs.fileno(),))
        started.wait_until_running()
        if command:
            assert ask(ours, command)[1] == 0
    assert started.finish().meta["status"] == "killed"


def test_terminate_signal_kills_the_tree(jails: Jails) -> None:
    started = jails.start("sleep_for_ever")
    started.wait_until_running()
    started.process.terminate()
    assert started.finish().meta["status"] == "killed"


@BACKENDS
def test_killed_jail_takes_the_program_along(jails: Jails, backend: list[str]) -> None:
    started = jails.start("spin", options=backend)
    started.wait_until_running()
    started.process.kill()
    started.finish()
    until(lambda: jailed_processes() == [], "the program is dead")
    assert groups() != [], "a killed jail leaves its groups; the next one removes them"
    assert jails.run("idle").meta["status"] == "exited"
    # A jail removes only the groups in hierarchies that it uses. So one more jail runs with the options of the killed
    # jail, and removes the remaining groups.
    assert jails.run("idle", options=backend).meta["status"] == "exited"


@BACKENDS
def test_frozen_leftover_is_removed(jails: Jails, backend: list[str]) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        options = ["--command-fd", str(theirs.fileno()), *backend]
        started = jails.start("spin", options=options, pass_fds=(theirs.fileno(),))
        started.wait_until_running()
        assert ask(ours, b"F")[1] == 0
        started.process.kill()
        # Calling finish() would block here: the program's pipes stay open, because processes in a frozen v1 group do
        # not die.
        started.process.wait(timeout=30)
    assert jails.run("idle", options=backend).meta["status"] == "exited"
    started.finish()


@BACKENDS
def test_frozen_while_it_starts_does_not_keep_the_slot(jails: Jails, backend: list[str]) -> None:
    """Only the jail's parent process may hold the slot's lock. A child that is frozen in setup must not keep it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            options = ["--command-fd", str(theirs.fileno()), *backend]
            started = jails.start("spin", options=options, pass_fds=(theirs.fileno(),))
        assert ask(ours, b"F")[1] == 0
        started.process.kill()
        started.process.wait(timeout=30)
    until(lambda: jails.run("idle", options=backend).meta["status"] == "exited", "the slot is free")
    started.finish()


def test_slot_in_use(jails: Jails) -> None:
    started = jails.start("sleep_for_ever")
    started.wait_until_running()
    second = jails.run("idle")
    assert second.code == 2
    assert "a running jail uses this slot" in second.stderr
    assert second.meta["status"] == "failed"
    started.process.terminate()
    assert started.finish().meta["status"] == "killed"


def test_jails_side_by_side(jails: Jails) -> None:
    started = [jails.start("sleep_for_ever", slot=slot) for slot in range(4)]
    for each in started:
        each.wait_until_running()
    # Each jail has an init process, which may take the name jail-init a moment after the program has begun to run.
    until(
        lambda: len([line for line in jailed_processes() if "jail-init" in line]) == 4,
        "four inits run",
    )
    for each in started:
        each.process.terminate()
    assert [each.finish().meta["status"] for each in started] == ["killed"] * 4


def test_many_runs_leak_nothing(jails: Jails) -> None:
    command = [
        str(JAIL),
        "--slot",
        str(FIRST_SLOT),
        "--bind",
        f"{HOSTILE / 'idle'}:/program",
        "--",
        "/program",
    ]
    for _ in range(200):
        subprocess.run(command, check=True)
    assert groups() == []


def test_processors(jails: Jails) -> None:
    outcome = jails.run("idle", options=["--cpus", "0"])
    assert "cpuset" in outcome.meta["mechanisms"].split(",")
    wrong = jails.run("idle", options=["--cpus", "4000"])
    assert wrong.code == 2
    assert "does not have all these processors" in wrong.stderr


def test_unreadable_bind_says_what_to_do(jails: Jails, tmp_path: Path) -> None:
    secret = tmp_path / "library.so"
    secret.write_bytes(b"x")
    secret.chmod(0o600)
    outcome = jails.run("idle", options=["--bind", f"{secret}:/library.so"])
    assert outcome.code == 2
    assert re.search(
        r"library\.so: the program runs as user \d+, who cannot read this path: make",
        outcome.stderr,
    )


def test_not_a_program(jails: Jails, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("hello\n")
    text.chmod(0o755)
    outcome = jails.start_path(text).finish()
    assert outcome.code == 2
    assert "Exec format error; it must be an executable file for this machine" in outcome.stderr
    assert outcome.meta["error"].startswith("cannot execute /program")
