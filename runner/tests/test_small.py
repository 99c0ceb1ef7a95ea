"""Tests of the runner's small modules: settings, safe text, machine facts, working folders and slots.

A slot is a number that gives a jail (sandbox) a user of its own; at most one process may hold a slot.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner import slots
from runner.machine import machine_facts
from runner.settings import SettingsError, load_settings
from runner.slots import SlotsTakenError, hold_slot, hold_worker_slot, slots_for_tests
from runner.text import capped, display_name, printable
from runner.work_folder import work_folder


def test_the_defaults_are_in_the_repository() -> None:
    settings = load_settings({})
    assert (settings.root / "benchmarks").is_dir()
    assert settings.build == settings.root / "build" / "release"
    assert settings.var == settings.root / "var"


def test_the_environment_decides(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    settings = load_settings(
        {"KEYDROME_ROOT": str(tmp_path), "KEYDROME_SLOT": "7", "KEYDROME_CPUS": "0-1"}
    )
    assert (settings.root, settings.slot, settings.cpus) == (tmp_path.resolve(), 7, "0-1")
    assert settings.missing_binaries() == [
        tmp_path.resolve() / "build" / "release" / path
        for path in (
            "bin/referee",
            "bin/player",
            "bin/driver",
            "bin/jail",
            "lib/indexes/global_lock.so",
            "lib/runtime/runtime.so",
        )
    ]


@pytest.mark.parametrize("slot", ["-1", "1000", "one", "", "\u0663"])
def test_a_slot_out_of_range_is_refused(slot: str) -> None:
    with pytest.raises(SettingsError, match="a whole number from 0 to 999"):
        load_settings({"KEYDROME_SLOT": slot})


@pytest.mark.parametrize("cpus", ["0..3", "0-", "0,", "0-3;", "all", "0 1"])
def test_a_wrong_list_of_cpus_is_refused(cpus: str) -> None:
    with pytest.raises(SettingsError, match=r"KEYDROME_CPUS is '.*', but must be a list of CPUs"):
        load_settings({"KEYDROME_CPUS": cpus})
    assert load_settings({"KEYDROME_CPUS": "0-3,8;4"}).cpus == "0-3,8;4"


def test_a_wrong_root_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="set KEYDROME_ROOT"):
        load_settings({"KEYDROME_ROOT": str(tmp_path)})


@given(st.text())
def test_a_shown_name_is_one_short_line_without_a_folder(name: str) -> None:
    shown = display_name(name)
    assert 0 < len(shown) <= 80
    assert "/" not in shown
    assert shown.splitlines() == [shown]
    assert shown.isprintable()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a.so", "a.so"),
        ("../../etc/passwd", "passwd"),
        ("C:\\evil.so", "evil.so"),
        ("line\nbreak.so", "line\ufffdbreak.so"),
        ("\u202efos.exe", "\ufffdfos.exe"),
        ("", "unnamed"),
        ("///", "unnamed"),
    ],
)
def test_odd_names(name: str, shown: str) -> None:
    assert display_name(name) == shown


def test_output_cannot_control_a_terminal() -> None:
    assert printable("red \x1b[31m\nnext\t\x07") == "red \ufffd[31m\nnext\t\ufffd"


@given(st.text(max_size=300), st.integers(0, 100))
def test_a_capped_text_keeps_both_ends(text: str, limit: int) -> None:
    short = capped(text, limit)
    if len(text) <= limit:
        assert short == text
    else:
        half = limit // 2
        left_out = len(text) - 2 * half
        note = f"\n[{left_out} character{'' if left_out == 1 else 's'} left out]\n"
        assert short == text[:half] + note + text[len(text) - half :]


def test_the_machine_class_is_stable_and_flat() -> None:
    first, second = machine_facts(), machine_facts()
    assert first["fingerprint"] == second["fingerprint"]
    assert first["class"] == second["class"]
    assert all(isinstance(value, str | int | float) for value in first.values())
    assert first["cpus"] == len(os.sched_getaffinity(0))


def test_a_working_folder_goes_with_its_job(tmp_path: Path) -> None:
    parent = tmp_path / "work"
    with work_folder(parent) as folder:
        (folder / "file").write_text("x")
        with work_folder(parent) as other:
            assert folder.is_dir()
            assert folder != other
    assert list(parent.iterdir()) == []


def test_a_killed_job_leaves_a_folder_that_the_next_one_removes(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path; from runner.work_folder import work_folder\n"
        "with work_folder(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'file').write_text('x'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    parent = tmp_path / "work"
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", script, str(parent)]
    assert subprocess.run(command, cwd=root, check=False).returncode == -9
    assert len(list(parent.iterdir())) == 2
    with work_folder(parent) as folder:
        assert sorted(parent.iterdir()) == [folder, folder.with_suffix(".lock")]


def test_a_lock_file_that_another_job_took_for_a_leftover_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other job removes the file after this job has created it and before this job has locked it."""
    lock = fcntl.flock
    parent = tmp_path / "work"
    removed: list[Path] = []

    def lock_late(descriptor: int, operation: int) -> None:
        if operation == fcntl.LOCK_EX and not removed:
            removed.extend(parent.glob("*.lock"))
            removed[0].unlink()
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", lock_late)
    with work_folder(parent) as folder:
        assert sorted(parent.iterdir()) == [folder, folder.with_suffix(".lock")]
        assert removed != [folder.with_suffix(".lock")]
    assert list(parent.iterdir()) == []


def test_a_slot_has_one_holder_and_is_free_again() -> None:
    own, following = slots_for_tests()[:2]
    with hold_slot(own, own) as slot:
        assert slot == own
        with pytest.raises(SlotsTakenError, match=f"slot {own}"), hold_slot(own, own):
            pytest.fail("two holders of one slot")
        with hold_slot(own, following) as next_slot:
            assert next_slot == following
    with hold_slot(own, own) as slot:
        assert slot == own


def test_locks_in_a_shared_folder_are_those_of_one_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Containers of one machine share the folder, but do not see each other's socket names."""
    monkeypatch.setattr(slots, "_bind_name", lambda _name, _held: True)
    own, following = slots_for_tests()[:2]
    with hold_worker_slot(own, own, tmp_path):
        with pytest.raises(SlotsTakenError), hold_worker_slot(own, own, tmp_path):
            pytest.fail("two containers hold one slot")
        with hold_worker_slot(own, following, tmp_path) as slot:
            assert slot == following
        monkeypatch.setattr(slots, "_machine", lambda: "another")
        with hold_worker_slot(own, own, tmp_path) as slot:
            assert slot == own


CLAIMING = """
from runner.slots import slots_for_tests
print(slots_for_tests()[0], flush=True)
input()
"""


def test_processes_of_tests_have_slots_of_their_own() -> None:
    """A test process reserves ten consecutive slots until it ends. It skips slots that a worker holds."""
    own = slots_for_tests()
    assert slots_for_tests() == own
    command = [sys.executable, "-c", CLAIMING]
    with ExitStack() as started:
        taken = {own[0]}
        for _ in range(3):
            process = started.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            started.callback(process.communicate, "\n")
            assert process.stdout is not None
            taken.add(int(process.stdout.readline()))
    assert len(taken) == 4
    assert {first % len(own) for first in taken} == {0}
    with hold_slot(own[3], own[3]):
        pass


def test_slots_for_tests_leave_out_a_slot_that_is_held() -> None:
    command = [sys.executable, "-c", CLAIMING]
    first = int(
        subprocess.run(command, input="\n", capture_output=True, text=True, check=True).stdout
    )
    with hold_slot(first + 4, first + 4):
        done = subprocess.run(command, input="\n", capture_output=True, text=True, check=True)
    assert int(done.stdout) != first
