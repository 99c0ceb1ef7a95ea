"""Tests of `keydrome compare` that need no jail (sandbox): what is refused or merged, and how the result is printed.

The command times libraries in blocks; each block runs every library once. The first block is a rehearsal.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

from cli import compare
from cli.main import main
from cli.output import compare_table, compare_text
from cli.output.compare_forecast import Forecaster
from cli.output.compare_markdown import markdown
from cli.output.compare_text import verdict
from results import compared
from results.compared import Compared, Library, compare_json
from results.metrics import with_metric
from runner.blocks import CONTROL, FLOOR, Block, Blocks
from runner.contract import Progress
from runner.inspection.key_file import KeyFile, KeyType
from runner.inspection.user_file import UserFile
from runner.manifest import parse_benchmark
from runner.request import Request
from runner.settings import load_settings
from runner.terms import JailLevel, Scale
from runner.tests.samples import MANIFEST

if TYPE_CHECKING:
    from runner.tests.conftest import Compile

SEEDS = tuple(f"{n:016x}" for n in range(30))
# The expected JSON. After an intended change, write it again with KEYDROME_GOLDEN=1 pytest cli/tests/test_compare.py
GOLDEN = Path(__file__).parent / "golden" / "compare.json"
REQUEST = Request(
    benchmark=parse_benchmark(MANIFEST, "sample"),
    instance="small",
    scale=Scale.SMOKE,
    overrides={},
    seeds=SEEDS,
    plain=False,
    require=JailLevel.FULL,
    control=True,
)


def block(number: int, control_last: float = 10.0, **changes: float) -> Block:
    """Return block `number`; each block is slower than the one before. Only the rehearsal (block 0) has library c."""
    slow = 1 + number / 50
    values = {"a": 2.0 * slow, "b:rw": 5.0 * slow, FLOOR: 1.0 * slow}
    values |= {"c": 5.1} if number == 0 else {}
    order = (CONTROL, *sorted(values), CONTROL)
    return Block(SEEDS[number], order, {**values, **changes}, 10.0, control_last)


def example(count: int = 8) -> Compared:
    """Return a comparison with a discarded block, two excluded libraries, and a library bound by the harness.

    A library is bound by the harness if a large part of its time is that of the code that makes the calls.
    """
    blocks = Blocks(
        rehearsal=block(0),
        blocks=[block(number) for number in range(1, count)],
        excluded={"c": "crashed in block 1: why"},
        jail_levels={"full", "weak"},
    )
    blocks.blocks.append(block(count, control_last=13.0, a=90.0))
    files = ("a", "b:rw", "c", "text")
    libraries = tuple(
        Library(
            name,
            f"{name.partition(':')[0]}.so",
            f"{number}" * 64,
            {"name": "rw"} if ":" in name else None,
            "not_elf: a text file" if name == "text" else "",
        )
        for number, name in enumerate(files)
    )
    return Compared(REQUEST, libraries, blocks, count - 1)


def shown(value: Compared) -> str:
    out = Console(width=110, record=True, highlight=False)
    compare_table.show_details(out, value)
    return out.export_text()


def screen(value: Compared) -> list[str]:
    out = Console(width=110, record=True, highlight=False)
    compare_table.show(out, value)
    return out.export_text().splitlines()


def test_the_json_has_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared, "machine_facts", lambda: {"class": "an example"})
    found = compare_json(example(), ["this machine is noisy"])
    schema = load_settings({}).root / "harness" / "schema" / "compare.v1.schema.json"
    Draft202012Validator(json.loads(schema.read_text())).validate(found)
    if "KEYDROME_GOLDEN" in os.environ:
        GOLDEN.write_text(json.dumps(found, indent=1) + "\n")
    assert found == json.loads(GOLDEN.read_text())


def test_the_table_shows_leaders_and_excluded_libraries(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(shown(example()).split())
    capsys.readouterr()
    for words in (
        "a / b:rw",
        "0.400",
        "apart: a leads",
        "7 of 8 blocks are valid (7 were requested; noisy blocks are repeated)",
        "differed by a factor of up to 1.30; a factor above 1.10 discards a block",
        "block 8 is discarded: the control library ran twice, and its second result is 1.30 times its first",
        "c is excluded, because it crashed in block 1: why",
        "text is excluded, because it was refused by the inspection: not_elf: a text file",
        "a is bound by the harness",
        "with a probability of 95.3 %",
    ):
        assert words in text
    assert "b:rw is bound" not in text


def test_one_screen_ends_with_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    lines = screen(example())
    capsys.readouterr()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 100
    assert lines[-1] == "result: a has the lowest total_ms of 2 libraries; the 7 blocks show it"
    text = " ".join(" ".join(lines).split())
    for words in (
        "first / second ratio interval result",
        "a / b:rw 0.400",
        "apart: a leads",
        "7 of 8 blocks are valid",
        "block 8 is discarded",
        "c is excluded, because it crashed in block 1: why",
        "jail: weak",
        "--details explains the columns",
    ):
        assert words in text
    assert "p differ" not in text


def test_a_long_result_of_a_pair_continues_on_the_next_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "b:rw is ahead, perhaps by less than 3 % (to decide: about 81 sessions, or even more)"
    monkeypatch.setattr(compare_text, "verdict", lambda *_: words)
    lines = screen(example())
    capsys.readouterr()
    assert max(map(len, lines)) <= 100
    assert words in " ".join(" ".join(lines).split())


def test_one_screen_does_not_name_a_leader_that_the_blocks_do_not_show(
    capsys: pytest.CaptureFixture[str],
) -> None:
    last = " ".join(line.strip() for line in screen(example(4))[-2:])
    capsys.readouterr()
    assert last == (
        "result: both libraries may have the lowest total_ms; the 4 blocks do not show a difference "
        "above 3 % between them"
    )


def test_a_repetition_can_make_one_valid_block_more_than_requested(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A later block can widen the largest allowed change, so that an earlier block is valid after all."""
    value = example()
    value.blocks.blocks[-1] = block(8)
    text = " ".join(shown(value).split())
    capsys.readouterr()
    assert "8 of 8 blocks are valid (7 were requested; noisy blocks are repeated)" in text


def test_few_blocks_decide_nothing_and_say_how_many_would(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = " ".join(shown(example(4)).split())
    assert "undecided (to decide: unknown number of sessions)" in "\n".join(screen(example(4)))
    capsys.readouterr()
    assert (
        "The results of 4 sessions scatter too much to estimate how many sessions would show which library"
        in text
    )
    assert "2 libraries need at least 6 sessions (--sessions 6)" in text
    assert "1-2" in text


def test_no_estimate_is_larger_than_what_the_option_allows() -> None:
    value = example(20)
    for number, one in enumerate(value.blocks.blocks):
        one.values["b:rw"] = one.values["a"] * (1.0609 if number % 2 else 1.0)
    text = " ".join(shown(value).split())
    assert "over 100" in text
    assert (
        "Even the 100 sessions that --sessions allows probably leave a pair of libraries undecided"
        in text
    )
    assert "1,000" not in text
    counted = len(value.counted)
    pair = replace(value.comparison.pairs[0], more_sessions=100 - counted)  # type: ignore[union-attr]
    assert verdict(pair, counted) == "undecided (to decide: about 100 sessions)"
    assert verdict(pair, counted + 1) == "undecided (to decide: over 100 sessions)"


def test_without_a_block_no_noise_is_reported() -> None:
    value = example()
    value.blocks.blocks.clear()
    text = " ".join(shown(value).split())
    assert "blocks are valid" not in text
    assert "there is nothing to compare" in text


def test_the_columns_are_explained_and_the_conditions_are_named() -> None:
    text = " ".join(shown(example()).split())
    for words in (
        "smoke scale: total_ms, less is better",
        "not the medians. median, min, max: total_ms, the wall time of the timed phases, in the valid blocks. ",
        "x control: divided by the result of the control, a fixed library",
        "ratio: total_ms of the first divided by that of the second",
        "differ by more than 3 % (--margin), or differ by less",
        f"seed: {SEEDS[0]} (--seed",
        "jail: weak",
    ):
        assert words in text


def test_the_markdown_has_the_tables_of_the_screen_and_the_conditions() -> None:
    value = example()
    text = markdown(value, ["this machine is noisy (load: 3.8 per CPU)"])
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[:2] == [
        "| rank | library | median, ms | min | max | x control | x null |",
        "|----|-------|----------:|----:|----:|---------:|------:|",
    ]
    assert [row.split(" | ")[1] for row in rows[2:4]] == ["a", "b:rw"]
    assert rows[4].startswith("| first / second | ratio |")
    assert rows[6].startswith("| a / b:rw | 0.400 | ")
    assert rows[6].endswith(" | apart: a leads |")
    assert len(rows) == 7
    for words in (
        "**sample/small version 3, smoke scale: total_ms, less is better**",
        "\n\nresult: a has the lowest total_ms of 2 libraries",
        "\n- warning: this machine is noisy (load: 3.8 per CPU)\n",
        "\n- benchmark: ",
        "\n- instance: ",
        "\n- control: global_lock, an ordered set with one lock\n",
        "\n- configuration rw: ",
        "- result: apart means that the blocks show a difference of more than 3 %",
        "\n- date: 20",
        ", Linux ",
        "- Keydrome: version ",
        "- parameters: ",
        "- sessions: 7 are valid, 7 were requested",
        "- margin: 3 %",
        "- machine: ",
        f"- seed: {SEEDS[0]} ",
        "- block 8 is discarded: ",
        "- c is excluded, because it crashed in block 1: why",
        f"- library b:rw: b.so, configuration rw, sha256 {'1' * 64}",
    ):
        assert words in text, words
    assert text.endswith("\n")


def test_each_rule_of_the_markdown_is_as_long_as_the_widest_cell_of_its_column() -> None:
    """Pandoc gives a column of a wide table as much of the page as its rule has dashes."""
    rows = [line for line in markdown(example()).splitlines() if line.startswith("|")][4:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    rules = cells.pop(1)
    for rule, *column in zip(rules, *cells, strict=True):
        assert len(rule.removesuffix(":")) == max(3, *map(len, column))


def test_the_legend_says_what_another_metric_is() -> None:
    benchmark = with_metric(example().request.benchmark, "throughput_tps")
    value = replace(example(), request=replace(REQUEST, benchmark=benchmark))
    text = " ".join(shown(value).split())
    assert "median, min, max: throughput_tps, transactions per second, in the valid" in text


def test_the_markdown_names_the_file_of_keys() -> None:
    facts = {"mean_bytes": 9.0, "longest_bytes": 12, "mean_shared_bytes": 4.0}
    file = UserFile("keys", Path("/data/my_words.txt"), "0" * 64, facts)
    request = replace(REQUEST, keys=KeyFile(file, KeyType.VARCHAR, 1000))
    text = markdown(replace(example(), request=request))
    assert "\n- keys: my_words.txt: 1,000 strings of 9.0 bytes on average" in text


def test_a_name_cannot_change_the_markdown() -> None:
    value = example()
    names = {"a": "x|y*z* <b>", "b:rw": "hash_or _it_\n# b"}
    libraries = tuple(replace(lib, name=names.get(lib.name, lib.name)) for lib in value.libraries)
    for one in value.blocks.blocks:
        for old, new in names.items():
            one.values[new] = one.values.pop(old)
    text = markdown(replace(value, libraries=libraries))
    assert "| x\\|y\\*z\\* \\<b\\> |" in text
    assert "| hash_or \\_it\\_ # b |" in text


def test_markdown_of_a_single_library_says_that_nothing_was_compared() -> None:
    value = example()
    value.blocks.excluded["a"] = "failed in block 2: why"
    text = markdown(value)
    assert "- fewer than two libraries have times: there is nothing to compare" in text
    assert "first / second" not in text


def test_a_busy_machine_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    value = example()
    assert "warning" not in shown(value)
    value.blocks.blocks[:] = [block(number, control_last=13.0) for number in range(1, 9)]
    text = shown(value)
    assert "warning: this machine is too busy to measure on" in text
    assert "changed by 30 % (median of 8 changes, at most 20 % allowed)" in text


def test_without_a_null_library_the_floor_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    value = example()
    value.blocks.floor = "refused its configuration in the rehearsal: why"
    text = " ".join(shown(value).split())
    capsys.readouterr()
    assert "(null), the library that does nothing, has no time, because it refused" in text
    assert "is bound by the harness" not in text
    assert compare_json(value)["libraries"][0]["over_floor"] is None


def test_one_library_alone_is_no_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    value = example()
    value.blocks.excluded["a"] = "failed in block 2: why"
    assert value.comparison is None
    assert "fewer than two libraries have times" in shown(value)
    capsys.readouterr()
    assert compare_json(value)["pairs"] == []


def test_the_margin_is_stated(capsys: pytest.CaptureFixture[str]) -> None:
    value = replace(example(), margin_ratio=1.1)
    for one in value.blocks.blocks:
        one.values["b:rw"] = one.values["a"]
    text = " ".join(shown(value).split())
    capsys.readouterr()
    assert "differ by more than 10 % (--margin), or differ by less" in text
    assert compare_json(value)["rules"]["margin_ratio"] == 1.1


def test_an_undecided_pair_gets_the_number_of_blocks_that_equality_takes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    value = example(20)
    for number, one in enumerate(value.blocks.blocks):
        one.values["b:rw"] = one.values["a"] * (1.2 if number % 2 else 1 / 1.2)
    text = " ".join(shown(value).split())
    capsys.readouterr()
    assert "undecided (to decide: about " in text
    assert (
        "estimates for a new run, because a run cannot be continued: give the number to --sessions"
        in text
    )
    assert re.search(
        r"it takes about (\d+) blocks \(--sessions \1\) to show that two equal libraries are equal",
        text,
    )


def test_the_time_of_a_block_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    beat = compare._estimated(lambda _progress: True, Forecaster(15, 1.03))
    for session in (0, 1, 1, 2):
        assert beat(Progress(session, 15, "a", "start", 0.0))
    text = capsys.readouterr().err
    assert text == (
        "keydrome: 15 blocks, each of which runs every library once, take about 1 s; noisy blocks are repeated\n"
    )
    beat = compare._estimated(lambda _progress: True, Forecaster(1, 1.03))
    assert beat(Progress(1, 1, "a", "start", 0.0))
    assert "1 block, which runs every library once, takes about 1 s" in capsys.readouterr().err


def failing(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run `compare`, which must exit with status 2 before it runs a session, and return its message."""
    assert main(["compare", *map(str, arguments), "--require", "none"]) == 2
    return capsys.readouterr().err


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A build folder with an empty file for every binary, so that none of them can be started."""
    settings = load_settings({"KEYDROME_BUILD": str(tmp_path / "build")})
    for path in (*settings.missing_binaries(), settings.floor):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.setenv("KEYDROME_BUILD", str(settings.build))
    monkeypatch.setenv("KEYDROME_VAR", str(tmp_path / "var"))
    return settings.build


@pytest.mark.usefixtures("built")
def test_the_same_file_twice_is_nothing_to_compare(
    good_library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.so"
    copy.write_bytes(good_library.read_bytes())
    text = failing(capsys, good_library, copy)
    assert f"{copy} has the same content and configuration as {good_library}, so only" in text
    assert f"only {good_library.stem} is left (the lines above say why): give" in text
    assert "a comparison needs at least two different libraries" in text
    assert "name a file twice and give --keep-same" in text


@pytest.mark.usefixtures("built")
def test_a_file_that_is_not_a_library_is_excluded_with_a_note(
    good_library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.so"
    text.write_text("hello")
    words = failing(capsys, good_library, text)
    assert "text.so is excluded, because the inspection refused it: the file is not an ELF" in words
    assert f"only {good_library.stem} is left (the lines above say why): give" in words


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no.so"], "no such file"),
        (["GOOD"], "was given: give another file"),
        (["GOOD:rw", "GOOD"], "configurations are for structures only"),
        (["GOOD", "GOOD", "--benchmark", "unit"], "unit measures no times to compare: use"),
        (["GOOD", "GOOD", "--benchmark", "fun"], "there is no benchmark 'fun'"),
        (["GOOD", "GOOD", "--sessions", "101"], "at most 100"),
        (["GOOD", "GOOD", "--threads", "100000"], "allows 1 to"),
        (["GOOD", "GOOD", "--seed", "x"], "is not a seed"),
        (["GOOD", "GOOD", "--json", "-", "--markdown", "-"], "both go to standard output"),
    ],
)
def test_arguments_that_cannot_be_compared(
    arguments: list[str], words: str, good_library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [argument.replace("GOOD", str(good_library)) for argument in arguments]
    assert words in failing(capsys, *given)


@pytest.mark.usefixtures("built")
def test_configurations_and_equal_names(
    compiled: Compile,
    good_library: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A structure given as LIB:CONFIG runs with CONFIG only; a structure given as LIB runs with each --config.

    Libraries from files with equal names get numbers.
    """
    structure = compiled(STRUCTURE, name="tree.so")
    other = tmp_path / "tree.so"
    other.write_bytes(good_library.read_bytes())
    asked: dict[str, Any] = {}

    def no_blocks(targets: dict[str, Any], *_: object, wanted: int, after_block: object) -> Blocks:
        assert after_block
        asked.update(targets)
        assert wanted == 6
        return Blocks()

    monkeypatch.setattr(compare, "run_blocks", no_blocks)
    options = ["--config", "rw", "--config", "exclusive", "--sessions", "6", "--require", "none"]
    arguments = [structure, other, f"{structure}:occ", good_library]
    report = tmp_path / "report.md"
    options += ["--keep-same", "--markdown", str(report)]
    assert main(["compare", *map(str, arguments), *options]) == 2
    assert "nothing to compare" in report.read_text()
    assert list(asked) == ["tree:rw", "tree:exclusive", "tree", "tree:occ", good_library.stem]
    assert [t.configuration["name"] for t in asked.values() if t.configuration] == [
        "rw",
        "exclusive",
        "occ",
    ]
    words = capsys.readouterr()
    assert "6 sessions are too few to decide anything between 5 libraries" in words.err
    assert "give --sessions 9 or more" in words.err
    assert "nothing to compare" in words.out


STRUCTURE = """
#include "keydrome/structure.h"
const KeydromeStructureTable* keydrome_structure(void) { return 0; }
"""
