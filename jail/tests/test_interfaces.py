"""Tests wrong command lines and misused command channels: the jail replies or ends with a message, and never hangs.

A command channel is a socket over which the caller sends the jail commands of one byte: freeze, thaw, usage, kill.
"""

import os
import random
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from jail.tests.jailing import FIRST_SLOT, HOSTILE, JAIL, REPLY, Jails
from jail.tests.tracing import held_at_exit, only_child

KNOWN = b"FTUK"  # the bytes of the commands freeze, thaw, usage and kill
SEEDS = [1, 2, 3, 4]
PROGRAM = ["--bind", f"{HOSTILE / 'idle'}:/program"]


def test_every_command_byte_has_a_reply(jails: Jails) -> None:
    """A command is one byte, so this test covers all commands, and a fuzzer is unnecessary."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            options = ["--command-fd", str(theirs.fileno())]
            started = jails.start("spin", options=options, pass_fds=(theirs.fileno(),))
        started.wait_until_running()
        for byte in set(range(256)) - set(b"K"):
            ours.send(bytes([byte]))
            reply = REPLY.unpack(ours.recv(REPLY.size))
            assert reply[:2] == (byte, 0 if byte in KNOWN else 22)
        ours.send(b"K")
        assert started.finish().meta["status"] == "killed"


def send_for_ever(channel: socket.socket) -> None:
    while True:
        channel.send(b"U")


@pytest.mark.parametrize("kind", [socket.SOCK_SEQPACKET, socket.SOCK_STREAM])
def test_caller_that_reads_no_replies(jails: Jails, kind: socket.SocketKind) -> None:
    """The channel fills up. The jail must kill the program instead of blocking on the channel."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    with ours:
        with theirs:
            options = ["--command-fd", str(theirs.fileno())]
            started = jails.start("spin", options=options, pass_fds=(theirs.fileno(),))
        started.wait_until_running()
        ours.settimeout(30)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            send_for_ever(ours)
        assert started.finish().meta["status"] == "killed"


@pytest.mark.parametrize("kind", [socket.SOCK_SEQPACKET, socket.SOCK_STREAM])
@pytest.mark.parametrize("seed", SEEDS)
def test_random_commands(jails: Jails, kind: socket.SocketKind, seed: int) -> None:
    source = random.Random(seed)
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    with ours:
        with theirs:
            options = ["--command-fd", str(theirs.fileno())]
            started = jails.start("spin", options=options, pass_fds=(theirs.fileno(),))
        started.wait_until_running()
        ours.settimeout(30)
        for _ in range(300):
            command = source.choice([source.randbytes(1), *(b"F", b"T", b"U")])
            if command == b"K":
                continue
            ours.send(command)
            reply = REPLY.unpack(ours.recv(REPLY.size))
            assert reply[:2] == (command[0], 0 if command in KNOWN else 22)
        ours.send(b"K")
        assert REPLY.unpack(ours.recv(REPLY.size))[:2] == (ord("K"), 0)
        assert started.finish().meta["status"] == "killed"


def test_a_kill_after_the_end_does_not_hide_how_the_program_ended(jails: Jails) -> None:
    """The test stops the jail's init just after init has reported the end of the program, and then sends the kill."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            options = ["--command-fd", str(theirs.fileno())]
            started = jails.start("spin", options=options, pass_fds=(theirs.fileno(),))
        started.wait_until_running()
        init = only_child(started.process.pid)
        with held_at_exit(init) as wait_until_held:
            os.kill(only_child(init), signal.SIGKILL)
            wait_until_held()
            ours.send(b"K")
            assert REPLY.unpack(ours.recv(REPLY.size))[:2] == (ord("K"), 0)
        meta = started.finish().meta
    assert (meta["status"], meta.get("signal")) == ("signaled", "9")


def test_an_argument_cannot_forge_meta_lines() -> None:
    reading, writing = os.pipe()
    forged = "/there/is/no\nstatus:exited\nexit_code:0"
    command = [str(JAIL), "--slot", str(FIRST_SLOT), "--meta-fd", str(writing)]
    command += ["--bind", f"{forged}:/a", "--", "/program"]
    done = subprocess.run(command, pass_fds=(writing,), capture_output=True, text=True, check=False)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        lines = pipe.read().splitlines()
    assert done.returncode == 2
    assert [line for line in lines if line.startswith("status:")] == ["status:failed"]


@pytest.mark.parametrize("number", ["+5", " 5", " -1", "\t5", "5 ", "0x5", "5e3", "", "-0"])
def test_numbers_are_digits(number: str) -> None:
    command = [str(JAIL), "--slot", str(FIRST_SLOT), "--processes", number, *PROGRAM]
    done = subprocess.run([*command, "--", "/program"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "must be a whole number" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no program given"),
        (["--", "program"], "must be an absolute path"),
        (["--check", "--", "/program"], "--check takes no program"),
        (["--nonsense", "--", "/p"], "--nonsense: is not an option of the jail"),
        (["--s", "1"], "--s: several options of the jail begin in this way"),
        (["-xy"], "-xy: is not an option of the jail"),
        (["--check=1"], "--check=1: the option --check takes no value"),
        (["--slot"], "--slot: the value of this option is missing"),
        (["--slot", "1000", "--", "/p"], "from 0 to 999"),
        (["--slot", "1x", "--", "/p"], "must be a whole number"),
        (["--memory-bytes", "-1", "--", "/p"], "must be a whole number"),
        (["--require", "some", "--", "/p"], "must be full, weak or none"),
        (["--without", "root", "--", "/p"], "must be cgroup, unified"),
        (["--bind", "/lib", "--", "/p"], "must be SOURCE:TARGET"),
        (["--bind", "/lib:lib", "--", "/p"], "must be SOURCE:TARGET"),
        (["--bind", "/lib:/a/../b", "--", "/p"], "contains .."),
        (
            ["--bind", "/there/is/no:/a", "--", "/p"],
            "cannot bind /there/is/no: No such file",
        ),
        (
            ["--bind", "/lib:/work/lib", "--", "/p"],
            "would hide the target /work/lib",
        ),
        (["--pass-fd", "99", "--", "/p"], "the jail has no open descriptor 99"),
        (["--pass-fd", "1", "--", "/p"], "must be 3 or more"),
        (["--cpus", "all", "--", "/p"], "must be a list of processors"),
        (["--", "/p"], "bind it with --bind"),
    ],
)
def test_wrong_options_get_a_message(jails: Jails, arguments: list[str], message: str) -> None:
    slot = [] if "--slot" in arguments else ["--slot", str(FIRST_SLOT)]
    done = subprocess.run([JAIL, *slot, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in done.stderr


def random_options(source: random.Random) -> list[str]:
    """Return a command line with a valid bind and up to three random options, most of them wrong."""
    numbers = ["0", "1", "16", "4096", "1048576", str(2**63), str(2**64), "-1", "x", ""]
    names = ["tmpfs-bytes", "memory-bytes", "processes", "wall-ms", "cpu-seconds", "open-files"]
    names += ["file-bytes", "stack-bytes", "pass-fd", "command-fd", "meta-fd", "cpus", "require"]
    names += ["without", "bind", "check", "counters", "sl", ""]
    texts = ["full", "weak", "none", "cgroup", "unified", "seccomp", "nosymfollow", "0-1", "0,,1"]
    texts += [
        "/lib:/a",
        "/:/a",
        ":",
        "/lib:/a/../b",
        f"/lib:/{'a/' * 2000}b",
        "/dev/null:/dev/null",
    ]
    line = list(PROGRAM)
    for _ in range(source.randrange(4)):
        line += [f"--{source.choice(names)}", source.choice(numbers + texts)]
    return line + source.choice([["--", "/program"], ["--", "/program", "\n"], ["--"], []])


@pytest.mark.parametrize("seed", SEEDS)
def test_random_command_lines(jails: Jails, tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    for _ in range(100):
        options = random_options(source)
        done = subprocess.run(
            [str(JAIL), "--slot", str(FIRST_SLOT), *options],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert done.returncode in {0, 2, 3}, options
        assert done.returncode == 0 or "jail: " in done.stderr, options
