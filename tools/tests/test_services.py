"""Tests of tools/dev/services.py, which starts and stops the site of `./dev up`.

Above all, `./dev down` must stop the process that `./dev up` recorded, and no other.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from dev import services, supervisor
from dev.steps import StepError


@pytest.fixture(autouse=True)
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(services, "RUN", tmp_path)
    monkeypatch.setattr(services, "RECORD", tmp_path / "site.json")
    return tmp_path


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that stands for the supervisor, or for a stranger that got the supervisor's old pid."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def record(pid: int, ticks: int | None) -> None:
    site = {"pid": pid, "started_ticks": ticks, "port": 1, "code": "x"}
    services.RECORD.write_text(json.dumps(site))


def test_down_stops_what_was_started(sleeper: subprocess.Popen[bytes]) -> None:
    record(sleeper.pid, services._start_ticks(sleeper.pid))
    assert services.stop()
    assert sleeper.wait(5) == -signal.SIGTERM
    assert not services.RECORD.exists()
    assert not services.stop()


def test_down_leaves_a_stranger_with_the_same_pid_alone(sleeper: subprocess.Popen[bytes]) -> None:
    ticks = services._start_ticks(sleeper.pid)
    assert ticks is not None
    record(sleeper.pid, ticks - 1)
    assert not services.stop()
    assert sleeper.poll() is None
    assert not services.RECORD.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"pid": 1}'])
def test_a_damaged_record_is_no_record(text: str) -> None:
    services.RECORD.write_text(text)
    assert services.recorded() is None
    assert not services.stop()


def test_two_at_once_follow_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second `up` must find the site that the first `up` started."""
    started: list[services.Site] = []

    def start(code: str) -> services.Site:
        ticks = services._start_ticks(os.getpid())
        assert ticks is not None
        started.append(services.Site(os.getpid(), ticks, 1, code))
        record(os.getpid(), ticks)
        services.RECORD.write_text(
            json.dumps({**json.loads(services.RECORD.read_text()), "code": code})
        )
        return started[-1]

    monkeypatch.setattr(services, "_start", start)
    monkeypatch.setattr(services, "_answers", lambda _site: True)
    monkeypatch.setattr(services, "code_digest", lambda: "code")
    threads = [threading.Thread(target=services.ensure) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(started) == 1


def test_a_long_log_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "LOG_BYTES", 3)
    log = tmp_path / "web.log"
    child = supervisor.Child("web", ["true"], log)
    for _ in range(2):
        log.write_text("long")
        child.start()
        assert child.process is not None
        child.process.wait()
    assert log.read_text() == ""
    assert (tmp_path / "web.old.log").read_text() == "long"


@pytest.mark.parametrize("text", ["abc", "0", "65536", "-1", "", "8_000", "٣"])
def test_an_invalid_port_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(StepError, match=r"KEYDROME_PORT is .*set it to a number from 1 to 65535"):
        services.wanted_port(text)


def test_port_is_taken_as_asked() -> None:
    assert services.wanted_port("65535") == 65_535
    assert services.wanted_port(None) == services.DEFAULT_PORT


def test_interrupt_waits_until_the_block_is_through() -> None:
    steps = []

    def work() -> None:
        with services.interrupts_deferred():
            signal.raise_signal(signal.SIGINT)
            steps.append("through")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["through"]
