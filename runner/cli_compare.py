"""`keydrome compare`: who is faster than whom, and how sure is that? Complete blocks, here and now."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from runner.blocks import CONTROL, FLOOR, run_blocks
from runner.cli_common import (
    UsageError,
    check_file,
    check_rights,
    find_configuration,
    is_trusted,
    local_jail,
    parse_parameters,
    seed_series,
    write_json,
)
from runner.cli_progress import shown_progress
from runner.compared import Compared, Library, compare_json
from runner.contract import JailLevel, Progress, Scale
from runner.elf import LibraryKind, inspect_library
from runner.execute import copy_into
from runner.manifest import Kind, RequestError, find_benchmark, load_benchmarks
from runner.order import Order, Target, make_target
from runner.referee import RefereeError
from runner.settings import load_settings
from runner.stats.pairs import sessions_needed
from runner.stats.signed_rank import DIFFERENCES_MAX
from runner.text import display_name

if TYPE_CHECKING:
    import argparse

    from runner.elf import LibraryFacts
    from runner.settings import Settings

DEFAULT_SESSIONS = 15
# With as many repetitions of void blocks the statistics are still cheap.
_SESSIONS_MAX = DIFFERENCES_MAX // 2


@dataclass(frozen=True, slots=True)
class _File:
    """A file that was named, its copy, and what inspection found."""

    path: Path
    copy: Path
    digest: str
    facts: LibraryFacts


@dataclass(frozen=True, slots=True)
class _Subject:
    """A library that takes part, and what the referee loads for it; `refused` instead of a target."""

    library: Library
    target: Target | None


def run(options: argparse.Namespace) -> int:
    """Run the command; 0 compared, 1 a library did not get through, 2 there was nothing to compare."""
    order = _order(options, load_settings())
    check_rights(order.require)
    with local_jail() as (settings, folder):
        missing = settings.missing_binaries()
        if missing:
            raise UsageError(f"not built: {', '.join(map(str, missing))}; build (./dev build)")
        subjects = _subjects(options, order, settings, folder)
        targets = {s.library.name: s.target for s in subjects if s.target is not None}
        _say_what_is_left_out(subjects, targets)
        _say_what_can_be_decided(len(targets), options.sessions)
        with shown_progress(f"{order.benchmark.name}/{order.instance}", _label) as beat:
            try:
                blocks = run_blocks(targets, order, settings, folder, beat, wanted=options.sessions)
            except RefereeError as error:
                raise UsageError(f"nothing can be compared here: {error}") from error
    compared = Compared(order, tuple(s.library for s in subjects), blocks, options.sessions)
    if options.json is not None:
        write_json(options.json, compare_json(compared))
    _show(compared)
    if compared.comparison is None:
        return 2
    return 1 if compared.left_out() else 0


def _order(options: argparse.Namespace, settings: Settings) -> Order:
    if options.sessions > _SESSIONS_MAX:
        raise UsageError(
            f"--sessions {options.sessions}: at most {_SESSIONS_MAX}; a pair that these do not decide is equal "
            "for all purposes"
        )
    benchmark = find_benchmark(load_benchmarks(settings.root), options.benchmark)
    if benchmark.kind is Kind.CORRECTNESS:
        raise UsageError(
            f"the benchmark {benchmark.name} judges and does not time: use `keydrome check`"
        )
    return Order(
        benchmark=benchmark,
        instance=options.instance or next(iter(benchmark.instances)),
        scale=Scale(options.scale),
        overrides=parse_parameters(options.parameter, options.threads),
        # The rehearsal, the blocks, and as many repetitions as there may be.
        seeds=seed_series(options.seed, 1 + 2 * options.sessions),
        plain=options.plain,
        require=JailLevel(options.require),
        control=True,
    )


def split_configuration(text: str) -> tuple[Path, str | None]:
    """Return the file and the configuration that LIB or LIB:CONFIG name; a file whose name has a colon stays whole."""
    file, colon, configuration = text.rpartition(":")
    if not colon or Path(text).exists():
        return Path(text), None
    return Path(file), configuration


def _subjects(
    options: argparse.Namespace, order: Order, settings: Settings, folder: Path
) -> list[_Subject]:
    """Inspect every library once and return what is to be compared, equal ones merged."""
    found: list[_Subject] = []
    taken = {CONTROL, FLOOR}
    seen: dict[tuple[str, str], str] = {}
    for number, text in enumerate(options.libraries):
        path, own = split_configuration(text)
        file = _inspected(path, folder / f"library-{number}", settings)
        for named in _configurations(file.facts, own, options.config):
            subject = _subject(file, named, order, settings)
            key = (file.digest, json.dumps(subject.library.configuration, sort_keys=True))
            if key in seen and not options.keep_same:
                _note(f"{subject.library.name} is the same as {seen[key]}: compared once")
                continue
            name = _free_name(subject.library.name, taken)
            taken.add(name)
            seen.setdefault(key, name)
            found.append(replace(subject, library=replace(subject.library, name=name)))
    return found


def _inspected(path: Path, place: Path, settings: Settings) -> _File:
    check_file(path, settings)
    place.mkdir(mode=0o700)
    copy = copy_into(place, path)
    digest = hashlib.sha256(copy.read_bytes()).hexdigest()
    facts = inspect_library(copy, settings, trusted=is_trusted(path, settings))
    return _File(path, copy, digest, facts)


def _configurations(facts: LibraryFacts, own: str | None, all_of: list[str]) -> list[str | None]:
    """Return the configurations to run a library under; --config is for the structures that name none."""
    if own is not None or facts.kind is not LibraryKind.STRUCTURE:
        return [own]
    return [*all_of] or [None]


def _subject(file: _File, named: str | None, order: Order, settings: Settings) -> _Subject:
    configuration = find_configuration(named, settings)
    shown = display_name(file.path.name)
    stem = shown.removesuffix(".so")
    name = stem if named is None else f"{stem}:{display_name(Path(named).stem)}"
    refused = "; ".join(map(str, file.facts.refusals))
    library = Library(name, shown, file.digest, configuration, refused)
    if refused:
        return _Subject(library, None)
    try:
        wanted = replace(order, configuration=configuration)
        return _Subject(library, make_target(file.copy, file.facts, wanted, settings))
    except RequestError as error:
        raise UsageError(f"{name}: {error}") from error


def _free_name(name: str, taken: set[str]) -> str:
    """Return the name, with a number where another library has it already."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} #{number}"
    return free


def _say_what_is_left_out(subjects: list[_Subject], targets: dict[str, Target]) -> None:
    for subject in subjects:
        if subject.target is None:
            _note(f"{subject.library.name} is left out: refused: {subject.library.refused}")
    if len(targets) < 2:  # noqa: PLR2004 - a comparison needs two
        raise UsageError(
            "fewer than two different libraries are left to compare: give another file, or the same structure "
            "under another configuration (LIB:CONFIG); --keep-same compares a file with itself"
        )


def _say_what_can_be_decided(libraries: int, sessions: int) -> None:
    needed = sessions_needed(libraries)
    if sessions < needed:
        _note(
            f"{sessions} sessions cannot decide anything between {libraries} libraries, however far apart they are: "
            f"that takes at least {needed}"
        )


def _label(progress: Progress) -> str:
    if progress.session == 0:
        return f"rehearsal: {progress.role}"
    return f"block {progress.session}/{progress.sessions}: {progress.role}"


def _note(text: str) -> None:
    print(f"keydrome: {text}", file=sys.stderr, flush=True)


def _show(compared: Compared) -> None:
    from runner import cli_compare_table, cli_table  # noqa: PLC0415 - rich is slow to import

    cli_compare_table.show(cli_table.console(), compared)
