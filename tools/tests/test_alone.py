"""Tests that commands which would disturb each other run one after the other, and say what they wait for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dev import alone, build, commands, packages, ports, servers, services, testing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOOLS = Path(alone.__file__).parents[1]
WAITING = """
import sys
from pathlib import Path
from dev import alone
kind, name = sys.argv[1:]
with alone.alone_in_clone(Path(name), "a") if kind == "clone" else alone.alone_on_machine(name, "a"):
    print("entered", flush=True)
"""


@pytest.fixture
def started() -> Iterator[Callable[[str, str], subprocess.Popen[str]]]:
    """Yield a function that starts a process. The process takes a lock, or waits for it."""
    processes: list[subprocess.Popen[str]] = []

    def start(kind: str, name: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WAITING, kind, name]
        environment = {**os.environ, "PYTHONPATH": str(TOOLS)}
        processes.append(
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        )
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("kind", ["clone", "machine"])
def test_the_second_waits_says_so_and_enters(
    kind: str, tmp_path: Path, started: Callable[[str, str], subprocess.Popen[str]]
) -> None:
    name = str(tmp_path / "run" / "lock") if kind == "clone" else f"keydrome-test-{os.getpid()}"
    lock = (
        alone.alone_in_clone(Path(name), "a")
        if kind == "clone"
        else alone.alone_on_machine(name, "a")
    )
    with lock:
        second = started(kind, name)
        assert second.stdout is not None
        assert second.stdout.readline() == "waiting for a to end ...\n"
        assert second.poll() is None
    assert second.communicate(timeout=30)[0] == "entered\n"
    assert started(kind, name).communicate(timeout=30)[0] == "entered\n"


def test_only_one_test_command_runs_in_a_clone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    started: Callable[[str, str], subprocess.Popen[str]],
) -> None:
    """Two test runs at once would delete each other's databases in var/ and write the same logs."""
    monkeypatch.setattr(commands, "RUN", tmp_path)
    monkeypatch.setattr(commands, "become_root", lambda: None)

    def look(**_options: object) -> int:
        second = started("clone", str(tmp_path / "tests.lock"))
        assert second.stdout is not None
        assert second.stdout.readline() == "waiting for a to end ...\n"
        return 7

    monkeypatch.setattr(testing, "test", look)
    monkeypatch.setattr(sys, "argv", ["dev", "test"])
    assert commands.main() == 7


def test_sites_of_several_clones_start_one_after_the_other(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    started: Callable[[str, str], subprocess.Popen[str]],
) -> None:
    """A second clone that starts at the same time would find the same port free, and see the first clone's site."""
    monkeypatch.setattr(services, "RUN", tmp_path)
    monkeypatch.setattr(services, "STARTING", f"keydrome-test-{os.getpid()}")

    def look(_code: str) -> services.Site:
        second = started("machine", services.STARTING)
        assert second.stdout is not None
        assert second.stdout.readline() == "waiting for a to end ...\n"
        return services.Site(1, 1, 8000, "x")

    monkeypatch.setattr(services, "_start_alone", look)
    assert services._start("x").port == 8000


def test_only_one_build_of_a_folder_runs_at_a_time(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    started: Callable[[str, str], subprocess.Popen[str]],
) -> None:
    """`./dev up` and `./dev test` of one clone build the same folder, and ninja does not lock this folder."""
    monkeypatch.setattr(build, "RUN", tmp_path)
    monkeypatch.setattr(build, "ROOT", tmp_path)

    def look(_command: list[str], **_options: object) -> None:
        second = started("clone", str(tmp_path / "build-release.lock"))
        assert second.stdout is not None
        assert second.stdout.readline() == "waiting for a to end ...\n"

    monkeypatch.setattr(build, "run", look)
    build.build("release")
    other = started("clone", str(tmp_path / "build-release.lock"))
    assert other.communicate(timeout=30)[0] == "entered\n"


def test_clones_install_packages_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, started: Callable[[str, str], subprocess.Popen[str]]
) -> None:
    """The second clone waits, then looks again which packages are missing, and finds all of them installed."""
    monkeypatch.setattr(packages, "INSTALLING", f"keydrome-test-packages-{os.getpid()}")
    answers = [["ninja-build"], ["ninja-build"], ["ninja-build"], []]
    monkeypatch.setattr(packages, "missing", lambda _packages: answers.pop(0))
    commands: list[list[str]] = []

    def look(command: list[str], **_options: object) -> None:
        second = started("machine", packages.INSTALLING)
        assert second.stdout is not None
        assert second.stdout.readline() == "waiting for a to end ...\n"
        commands.append(command[:2])

    monkeypatch.setattr(packages, "run", look)
    packages.install(("ninja-build",))
    assert commands == [["apt-get", "update"], ["apt-get", "install"]]
    packages.install(("ninja-build",))
    assert len(commands) == 2
    assert answers == []


def test_a_port_that_is_held_belongs_to_its_web_server_alone() -> None:
    """A second site that looks for a port takes another one, even while the first site's web server restarts."""
    with services._hold_port(20_000) as first, services._hold_port(20_000) as second:
        assert ports.number(first) != ports.number(second)
        with pytest.raises(OSError, match="in use"):
            socket.create_server((ports.HOST, ports.number(first)))
        address = (ports.HOST, ports.number(first))
        with (
            socket.create_server(address, reuse_port=True) as server,
            socket.create_connection(address) as client,
        ):
            client.sendall(b"x")
            accepted, _ = server.accept()
            assert accepted.recv(1) == b"x"
            accepted.close()
        assert ports.hold(ports.number(first)) is None


def test_two_programs_that_use_one_folder_of_servers_run_one_after_the_other(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    started: Callable[[str, str], subprocess.Popen[str]],
) -> None:
    monkeypatch.setattr(servers, "VAR", tmp_path)
    with servers.folders("fault-storm") as (data, _):
        second = started("clone", str(tmp_path / "run" / "fault-storm.lock"))
        assert second.stdout is not None
        assert second.stdout.readline() == "waiting for a to end ...\n"
        with servers.folders("test-servers") as (other, _):
            assert other != data
    assert second.communicate(timeout=30)[0] == "entered\n"


def test_the_worker_of_a_second_site_takes_another_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KEYDROME_SLOTS", raising=False)
    assert int(services.environment()["KEYDROME_SLOTS"]) > 1
    monkeypatch.setenv("KEYDROME_SLOTS", "3")
    assert services.environment()["KEYDROME_SLOTS"] == "3"
