"""Tests of runner/blocks.py: the order of libraries, discarded blocks and excluded libraries.

A block runs every library once, and a fixed library, the control, before and after them. The first block is a
rehearsal, whose times are not used. The referee is the program that runs and judges a library. Here a shell script
replaces it and returns reports that the tests have written to files.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from runner.blocks import CONTROL, FLOOR, Block, Blocks, block_order, run_blocks
from runner.contract import Cancelled, Progress, RefereeError
from runner.manifest import RequestError, parse_benchmark
from runner.request import Loadable, Request
from runner.terms import JailLevel, Scale
from runner.tests.samples import MANIFEST, key_file, report

if TYPE_CHECKING:
    from pathlib import Path

    from runner.inspection.key_file import KeyFile
    from runner.settings import Settings

# The fake referee returns the report in the file LIBRARY.RUN, where RUN counts the runs of the library. If this file
# does not exist, the fake referee returns the report in the file LIBRARY. The library global_lock is the control, and
# null is a library that does nothing.
SCRIPT = """#!/bin/sh
seed=$(sed 's/.*"seed": "\\([0-9a-f]*\\)".*/\\1/' "$2")
plain=$(sed 's/.*"plain": \\([a-z]*\\).*/\\1/' "$2")
name=$(sed 's/.*"library": {"path": "[^"]*\\/\\([a-z_]*\\).so".*/\\1/' "$2")
echo "$seed $name" >> ANSWERS/played
count=$(grep -c " $name\\$" ANSWERS/played)
answer=ANSWERS/$name.$count
[ -e "$answer" ] || answer=ANSWERS/$name
sed "s/00000000000000aa/$seed/; s/\\"plain\\": false/\\"plain\\": $plain/" "$answer" > "$4"
"""
SEEDS = tuple(f"{n:016x}" for n in range(20))


@dataclass(frozen=True)
class Track:
    """A build folder with the fake referee. `answer` sets the report that the fake referee returns for a library."""

    settings: Settings
    folder: Path

    def answer(
        self, name: str, total_ms: float | None, verdict: str = "passed", run: int = 0
    ) -> None:
        content = report(verdict, total_ms).to_json()
        file = f"{name}.{run}" if run else name
        (self.folder / "answers" / file).write_text(json.dumps(content))

    def played(self) -> list[tuple[str, str]]:
        lines = (self.folder / "answers" / "played").read_text().splitlines()
        return [(line.split()[0], line.split()[1]) for line in lines]

    def run(
        self,
        names: str,
        wanted: int,
        heartbeat: Any = lambda _: True,
        keys: KeyFile | None = None,
        after_block: Any = None,
    ) -> Blocks:
        request = Request(
            benchmark=parse_benchmark(MANIFEST, "sample"),
            instance="small",
            scale=Scale.SMOKE,
            overrides={},
            seeds=SEEDS[: 1 + 2 * wanted],
            plain=False,
            require=JailLevel.FULL,
            control=True,
            keys=keys,
        )
        targets = {name: Loadable(self.folder / f"{name}.so") for name in names}
        return run_blocks(
            targets,
            request,
            self.settings,
            self.folder,
            heartbeat,
            wanted=wanted,
            after_block=after_block,
        )


@pytest.fixture
def track(settings: Settings, tmp_path: Path) -> Track:
    referee = tmp_path / "build" / "bin" / "referee"
    referee.parent.mkdir(parents=True)
    (tmp_path / "answers").mkdir()
    referee.write_text(SCRIPT.replace("ANSWERS", str(tmp_path / "answers")))
    referee.chmod(0o755)
    made = Track(replace(settings, build=tmp_path / "build"), tmp_path)
    for name, total_ms in (("a", 5.0), ("b", 6.0), ("null", 1.0), ("global_lock", 10.0)):
        made.answer(name, total_ms)
    made.answer("null", 1.0, "failed")  # the null library stores nothing, so it fails its checks
    return made


def test_a_file_of_keys_that_changes_ends_the_comparison(track: Track) -> None:
    keys = key_file(track.folder / "keys")

    def change(progress: Progress) -> bool:
        if progress.session == 2:
            keys.path.write_text("2\n")
        return True

    with pytest.raises(RequestError, match="the file changed while the sessions ran"):
        track.run("ab", 3, change, keys)
    assert {seed for seed, _ in track.played()} == set(SEEDS[:3])


def test_each_block_runs_every_library_once_between_two_control_runs(track: Track) -> None:
    seen: list[Progress] = []

    def heartbeat(progress: Progress) -> bool:
        seen.append(progress)
        return True

    result = track.run("ab", 2, heartbeat)
    assert result.rehearsal is not None
    assert [block.seed for block in (result.rehearsal, *result.blocks)] == list(SEEDS[:3])
    assert result.values() == {"a": [5.0, 5.0], "b": [6.0, 6.0]}
    for block in result.blocks:
        names = [name for seed, name in track.played() if seed == block.seed]
        assert names[0] == names[-1] == "global_lock"
        assert sorted(names[1:-1]) == ["a", "b", "null"]
        shown = {CONTROL: "global_lock", FLOOR: "null"}
        assert [shown.get(name, name) for name in block.order] == names
        assert block.control == pytest.approx(10.0)
        assert block.change == 0.0
    assert (result.excluded, result.floor, result.jail_levels) == ({}, "", {"full"})
    fractions = [progress.fraction for progress in seen]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] < fractions[-1] <= 1


def test_the_caller_sees_the_blocks_after_each_block(track: Track) -> None:
    seen: list[list[float]] = []
    track.run("ab", 3, after_block=lambda blocks: seen.append(blocks.values()["a"]))
    assert seen == [[5.0], [5.0] * 2, [5.0] * 3]


def test_every_order_is_as_likely() -> None:
    orders = [block_order(("a", "b", "c"), f"{n:016x}") for n in range(3000)]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6
    assert all(400 < count < 600 for count in counts)
    assert block_order(("c", "a", "b"), SEEDS[0]) == block_order(("a", "b", "c"), SEEDS[0])


def test_a_block_in_which_the_control_changes_too_much_is_discarded_and_repeated(
    track: Track,
) -> None:
    # The control runs twice per block: runs 1 and 2 are in the rehearsal, run 4 ends the first block.
    track.answer("global_lock", 13.0, run=4)
    result = track.run("ab", 5)
    assert result.drift().discarded == (0,)
    assert (
        result.drift().reason(0)
        == "the control library ran twice, and its second result is 1.30 times its first (allowed: 0.91 to 1.10)"
    )
    assert len(result.blocks) == 6
    assert [len(values) for values in result.values().values()] == [5, 5]


def test_a_library_that_fails_is_excluded_and_the_others_continue(track: Track) -> None:
    track.answer("c", 4.0)
    track.answer("c", 4.0, "timed_out", run=3)
    result = track.run("abc", 3)
    assert result.excluded == {"c": "timed out in block 2: why"}
    assert result.values() == {"a": [5.0] * 3, "b": [6.0] * 3}
    assert [name for _, name in track.played()].count("c") == 3


def test_the_rehearsal_finds_libraries_that_fail(track: Track) -> None:
    track.answer("c", None)
    result = track.run("ac", 3)
    assert result.excluded == {
        "c": "passed in the rehearsal (the first block, which does not count), but total_ms in the report of this "
        "library is 0 or missing, so no ratio can be computed; `keydrome bench` shows all metrics of the library"
    }
    assert result.blocks == []
    assert result.values() == {}


def test_without_the_null_library_only_the_floor_is_missing(track: Track) -> None:
    track.answer("null", 1.0, "unsupported")
    result = track.run("ab", 2)
    assert (
        result.floor
        == "refused its configuration in the rehearsal (the first block, which does not count): why"
    )
    assert result.values() == {"a": [5.0] * 2, "b": [6.0] * 2}
    assert FLOOR not in result.blocks[0].order


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("crashed", "in block 1, the control library, .* crashed: why. Try again when"),
        ("refused", "^why$"),
    ],
)
def test_a_control_that_fails_ends_it(track: Track, verdict: str, words: str) -> None:
    track.answer("global_lock", 10.0, verdict, run=3)
    with pytest.raises(RefereeError, match=words):
        track.run("ab", 2)


def test_it_can_be_cancelled(track: Track) -> None:
    with pytest.raises(Cancelled):
        track.run("ab", 2, lambda progress: progress.session == 0)
    assert not (track.folder / "session").exists()


def test_steady_drift_cancels_in_the_control_of_a_block() -> None:
    block = Block("0" * 16, (), {}, control_first=8.0, control_last=12.5)
    assert block.control == pytest.approx(10.0)
