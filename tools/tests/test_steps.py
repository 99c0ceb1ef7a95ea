"""Tests of tools/dev/steps.py, which runs the steps of `./dev`.

A stamp, the digest of a step's inputs, decides whether the step is skipped. Error messages must say what to do.
"""

from pathlib import Path

import pytest
from dev import steps


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(steps, "ROOT", tmp_path)
    monkeypatch.setattr(steps, "STATE", tmp_path / ".state")
    monkeypatch.setattr(steps, "LOGS", tmp_path / "log")
    return tmp_path


def test_a_stamped_step_runs_once() -> None:
    ran: list[int] = []
    assert steps.stamped("one", "a", lambda: ran.append(1))
    assert not steps.stamped("one", "a", lambda: ran.append(2))
    assert steps.stamped("one", "b", lambda: ran.append(3))
    assert ran == [1, 3]


def test_a_step_runs_again_when_what_it_made_is_gone(tmp_path: Path) -> None:
    made = tmp_path / "database"
    assert steps.stamped("one", "a", made.touch, made=made)
    assert not steps.stamped("one", "a", made.touch, made=made)
    made.unlink()
    assert steps.stamped("one", "a", made.touch, made=made)
    assert made.exists()


def test_a_failed_step_is_not_stamped() -> None:
    def fail() -> None:
        raise steps.StepError("no")

    with pytest.raises(steps.StepError):
        steps.stamped("one", "a", fail)
    ran: list[int] = []
    assert steps.stamped("one", "a", lambda: ran.append(1))


def test_digest_follows_content_and_names(tmp_path: Path) -> None:
    folder = tmp_path / "input"
    folder.mkdir()
    (folder / "a").write_text("1")
    first = steps.digest([folder])
    (folder / "a").write_text("2")
    second = steps.digest([folder])
    (folder / "a").rename(folder / "b")
    third = steps.digest([folder])
    assert len({first, second, third, steps.digest([folder], "word")}) == 4


def test_failure_shows_output_and_hint(tmp_path: Path) -> None:
    with pytest.raises(steps.StepError) as failure:
        steps.run(["sh", "-c", "echo broken; exit 3"], log="x", hint="turn it off", cwd=tmp_path)
    text = str(failure.value)
    assert "exit code 3" in text
    assert "broken" in text
    assert "turn it off" in text


def test_missing_program_shows_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(steps.StepError, match=r"no-such-program-here is not installed: install it"):
        steps.run(["no-such-program-here"], log="x", hint="get it", cwd=tmp_path)


@pytest.mark.parametrize(
    ("script", "ended"),
    [
        ("kill -9 $$", "was ended by signal 9"),
        ("echo 'fatal error: Killed signal terminated program cc1plus'; exit 1", "exit code 1"),
    ],
)
def test_failure_of_a_killed_command_suggests_more_memory(
    tmp_path: Path, script: str, ended: str
) -> None:
    with pytest.raises(steps.StepError) as failure:
        steps.run(["sh", "-c", script], log="x", hint="correct the error", cwd=tmp_path)
    assert ended in str(failure.value)
    assert "correct the error" not in str(failure.value)
    assert "memory ran out" in str(failure.value)


def test_failure_names_another_signal(tmp_path: Path) -> None:
    with pytest.raises(steps.StepError, match="a command was ended by signal 11: sh -c"):
        steps.run(["sh", "-c", "kill -11 $$"], log="x", hint="wait", cwd=tmp_path)
