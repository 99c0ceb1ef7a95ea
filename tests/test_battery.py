"""Runs the fast attacks of tests/hostile through upload, worker, referee and jail, and tests the battery itself.

The worker takes uploaded libraries from the queue, the referee judges them, and the jail is the sandbox in which they
run. The battery is the program that runs all attacks: `python -m tools.reports.battery`. Some tests here weaken the
jail or change expectations, to prove that the battery notices.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.slots import hold_local_slot
from tests.binaries import built_settings
from tools.reports.battery import cases, leftovers, page
from tools.reports.battery.chain import HOLE, Chain
from tools.reports.battery.files import FORGED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from web.tests.world import World

ALL = {case.id: case for case in cases.load()}
LAST = {"A": 24, "B": 31, "C": 28, "D": 57, "E": 6}  # the number of the last case in each group
PLACES = {"constructor", "early thread", "call", "thread", "commit", "close", "left thread"}


@pytest.fixture
def chain(world: World, embedded_site: None, own_var: Path) -> Iterator[Chain]:
    """Start a site with a worker. All users may read its folder, because the jail's user reads libraries there."""
    with hold_local_slot() as slot:
        place = replace(built_settings(), var=own_var, slot=slot)
        yield Chain(world.alice, place, own_var / "battery")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", [case.id for case in cases.load(fast=True)])
def test_an_attack_ends_as_it_must_and_leaves_nothing(name: str, chain: Chain) -> None:
    assert chain.play(ALL[name]).faults == []


@pytest.mark.django_db(transaction=True)
def test_an_honest_library_is_passed_and_may_be_ranked(chain: Chain) -> None:
    assert chain.honest_faults("after the test") == []


@pytest.mark.django_db(transaction=True)
def test_a_hole_in_the_jail_is_seen(chain: Chain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Without the jail's filter of system calls, attempts succeed, and the battery must report them."""
    build = tmp_path / "build"
    (build / "bin").mkdir(parents=True)
    (build / "lib").symlink_to(chain.place.build / "lib")
    for program in (chain.place.build / "bin").iterdir():
        (build / "bin" / program.name).symlink_to(program)
    jail = build / "bin" / "jail"
    real = jail.resolve()
    jail.unlink()
    jail.write_text(f'#!/bin/sh\nexec {real} --without seccomp "$@"\n')
    jail.chmod(0o755)
    monkeypatch.setenv("KEYDROME_JAIL_LEVEL", "none")
    chain.place = replace(chain.place, build=build)
    faults = chain.play(ALL["C01"]).faults
    assert any(line.endswith(f": {HOLE} inet: succeeded") for line in faults)


@pytest.mark.django_db(transaction=True)
def test_a_forgery_that_succeeds_is_reported(chain: Chain) -> None:
    """The battery must report a case whose library behaves differently from the expected result."""
    faults = chain.play(replace(ALL["D29"], expect=("passed",), findings=("no_such",))).faults
    assert faults[0].startswith("the verdict is failed")
    assert "the expected finding no_such is missing" in faults
    silent = replace(ALL["A01"], where=("constructor", "commit"))
    assert chain.play(silent).faults == ["the log does not contain 'A01 commit: tried'"]


def test_leftovers_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "HOST_FILE", tmp_path / "a file of the host")
    work = tmp_path / "work"
    work.mkdir()
    with hold_local_slot() as slot:
        before = leftovers.look([slot], [work])
        assert before.left(timeout_seconds=0) == []
        (work / "forgotten").touch()
        user = str(leftovers.FIRST_UID + slot)
        command = [
            "setpriv",
            f"--reuid={user}",
            "--clear-groups",
            "sh",
            "-c",
            "echo; exec sleep 60",
        ]
        stray = subprocess.Popen(command, stdout=subprocess.PIPE)
        try:
            assert stray.stdout is not None
            stray.stdout.read(1)
            leftovers.HOST_FILE.write_text("changed")
            found = before.left(timeout_seconds=0)
            damage = before.damage()
        finally:
            stray.kill()
            stray.communicate()
    assert any(line.startswith("process ") for line in found), found
    assert any(line.startswith("descriptor ") for line in found), found
    assert f"file {work / 'forgotten'}" in found
    assert damage == [
        f"the host's file {leftovers.HOST_FILE} was changed or deleted, which the jail must prevent"
    ]


def test_the_table_of_cases_has_no_gaps() -> None:
    """No number of a case is missing; variants of a case have a letter after the number."""
    wanted = {f"{letter}{n:02d}" for letter, last in LAST.items() for n in range(1, last + 1)}
    assert wanted <= set(ALL)
    for case in ALL.values():
        assert re.fullmatch(r"[A-E]\d\d[a-z]?", case.id)
        ways = [case.attack, case.library, case.file, case.many_jails, case.proof]
        assert sum(map(bool, ways)) == 1, case.id
        assert set(case.where) <= PLACES
        assert not case.file or case.file in FORGED or case.file == case.id
    assert page.PAGE.read_text().count("\n| ") - len(LAST) == len(ALL)


def test_the_files_that_a_case_names_exist() -> None:
    for case in ALL.values():
        for name in re.findall(r"[\w./-]+/[\w.-]+\.(?:py|md)", f"{case.proof} {case.note}"):
            assert (cases.ROOT / name).exists(), (case.id, name)
