"""Implements `keydrome compare`: times several libraries, and reports which is faster and how certain the result is.

The libraries run in complete blocks: each block runs every library once, with the same operations (runner/blocks.py).
The first block is a rehearsal, whose times are not used. A structure is a data structure without transactions. It runs
with a configuration, which says how Keydrome's runtime adds transactions to it.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from cli.input.libraries import DEFAULT_CONFIGURATION, find_configuration, find_runnable, is_trusted
from cli.input.request import chosen_benchmark, request_of
from cli.input.values import UsageError, seed_series
from cli.local_jail import check_rights, local_jail
from cli.machine_noise import settings_of
from cli.neighbours import Neighbours
from cli.output.compare_forecast import SESSIONS_MAX, Forecaster
from cli.output.files import check_streams, stream_for_people, write_json
from cli.output.progress import announce, duration, shown_progress
from results.compared import Compared, Library, compare_json
from results.metrics import with_metric
from results.stats.pairs import sessions_needed
from runner.blocks import CONTROL, FLOOR, run_blocks
from runner.contract import RefereeError
from runner.execute import copy_into
from runner.inspection.library import LibraryKind, inspect_library, refusals_text
from runner.manifest import Kind, RequestError
from runner.output_file import write_file
from runner.request import Loadable, make_loadable
from runner.settings import load_settings
from runner.terms import JailLevel
from runner.text import display_name

if TYPE_CHECKING:
    import argparse

    from cli.output.progress import Heartbeat
    from runner.contract import Progress
    from runner.inspection.library import LibraryFacts
    from runner.request import Request
    from runner.settings import Settings


@dataclass(frozen=True, slots=True)
class _File:
    """A file from the command line, with its copy, the SHA-256 of the copy, and the result of the inspection."""

    path: Path
    copy: Path
    digest: str
    facts: LibraryFacts


@dataclass(frozen=True, slots=True)
class _Subject:
    """A library to compare. `loadable` is None if the inspection has refused the file."""

    library: Library
    loadable: Loadable | None


def run(options: argparse.Namespace) -> int:
    """Run the command. Return 0 if all libraries were compared, 1 if some were excluded, 2 if none was compared."""
    request = _request(options, load_settings())
    check_rights(request.require)
    with local_jail() as (settings, folder):
        if missing := settings.why_incomplete():
            raise UsageError(missing)
        subjects = _subjects(options, request, settings, folder)
        candidates = {s.library.name: s.loadable for s in subjects if s.loadable is not None}
        _note_excluded(subjects, candidates, given=len(options.libraries))
        _note_too_few_sessions(len(candidates), options.sessions)
        noise = _noise()
        for text in noise:
            _note(text)
        neighbours = Neighbours(settings.slot)
        forecaster = Forecaster(options.sessions, 1 + options.margin / 100)
        with shown_progress(
            f"{request.benchmark.name}/{request.instance}", _label, _line
        ) as heartbeat:
            beat = neighbours.watched(_estimated(heartbeat, forecaster))
            try:
                blocks = run_blocks(
                    candidates,
                    request,
                    settings,
                    folder,
                    beat,
                    wanted=options.sessions,
                    after_block=forecaster.after_block,
                )
            except RefereeError as error:
                raise UsageError(f"cannot compare on this machine: {error}") from error
        neighbours.look()
    if neighbours.seen:
        noise.append(
            "other Keydrome runs were active and may have made these times longer: compare again when those runs have "
            "ended"
        )
        _note(noise[-1])
    libraries = tuple(s.library for s in subjects)
    compared = Compared(request, libraries, blocks, options.sessions, 1 + options.margin / 100)
    _show(compared, stream_for_people(options.json, options.markdown), details=options.details)
    _write(options, compared, noise)
    if compared.comparison is None:
        return 2
    return 1 if compared.left_out() else 0


def _write(options: argparse.Namespace, compared: Compared, noise: list[str]) -> None:
    if options.json is not None:
        write_json(options.json, compare_json(compared, noise))
    if options.markdown is not None:
        from cli.output.compare_markdown import markdown  # noqa: PLC0415 - slow to import

        write_file(options.markdown, markdown(compared, noise))


def _request(options: argparse.Namespace, settings: Settings) -> Request:
    if options.sessions > SESSIONS_MAX:
        raise UsageError(
            f"--sessions {options.sessions}: at most {SESSIONS_MAX} sessions are allowed: give a smaller number; if "
            f"{SESSIONS_MAX} sessions cannot show which of two libraries is better, use a larger --scale or a "
            "quieter machine"
        )
    check_streams(options)
    benchmark = chosen_benchmark(options, settings)
    if benchmark.kind is Kind.CORRECTNESS:
        raise UsageError(
            f"the benchmark {benchmark.name} measures no times to compare: use `keydrome check`, or choose another "
            "benchmark"
        )
    if options.metric is not None:
        benchmark = with_metric(benchmark, options.metric)
    request = request_of(
        options,
        benchmark,
        settings,
        # One seed for the rehearsal, one per block, and one per possible repetition.
        seeds=seed_series(options.seed, 1 + 2 * options.sessions),
        require=JailLevel(options.require),
        control=True,
    )
    return replace(request, memory_bytes=options.memory)


def _subjects(
    options: argparse.Namespace, request: Request, settings: Settings, folder: Path
) -> list[_Subject]:
    """Inspect every file, and return the libraries, including refused ones.

    Without --keep-same, return only the first of several identical libraries.
    """
    found: list[_Subject] = []
    taken = {CONTROL, FLOOR}
    seen: dict[tuple[str, str], str] = {}  # the names of the first of several equal ones
    read: set[Path] = set()
    for number, text in enumerate(options.libraries):
        named = find_runnable(text, settings)
        if named.path not in read:
            announce(f"reading {display_name(named.path.name)}")
        read.add(named.path)
        file = _inspected(named.path, folder / f"library-{number}", settings)
        for chosen in _configurations(file.facts, named.configuration, options.config):
            subject = _subject(file, chosen, request, settings)
            shown = text if chosen is None or named.configuration else f"{text}:{chosen}"
            key = (file.digest, json.dumps(subject.library.configuration, sort_keys=True))
            if key in seen and not options.keep_same:
                same = f"{shown} has the same content and configuration as {seen[key]}"
                _note(f"{same}, so only {seen[key]} is compared (--keep-same compares both)")
                continue
            name = _free_name(subject.library.name, taken)
            taken.add(name)
            seen.setdefault(key, shown)
            found.append(replace(subject, library=replace(subject.library, name=name)))
    return found


def _inspected(path: Path, place: Path, settings: Settings) -> _File:
    place.mkdir(mode=0o700)
    copy = copy_into(place, path)
    digest = hashlib.sha256(copy.read_bytes()).hexdigest()
    facts = inspect_library(copy, settings, trusted=is_trusted(path, settings))
    return _File(path, copy, digest, facts)


def _configurations(facts: LibraryFacts, own: str | None, all_of: list[str]) -> list[str | None]:
    """Return the configurations under which a file runs; None means without a configuration.

    A structure that is given without a configuration (LIB instead of LIB:CONFIG) runs with each --config, or with the
    default.
    """
    if own is not None or facts.kind is not LibraryKind.STRUCTURE:
        return [own]
    return [*all_of] or [DEFAULT_CONFIGURATION]


def _subject(file: _File, named: str | None, request: Request, settings: Settings) -> _Subject:
    configuration = find_configuration(named, settings)
    shown = display_name(file.path.name)
    stem = shown.removesuffix(".so")
    name = stem if named is None else f"{stem}:{display_name(Path(named).stem)}"
    refused = refusals_text(file.facts.refusals)
    library = Library(name, shown, file.digest, configuration, refused)
    if refused:
        return _Subject(library, None)
    try:
        wanted = replace(request, configuration=configuration)
        return _Subject(library, make_loadable(file.copy, file.facts, wanted, settings))
    except RequestError as error:
        raise UsageError(f"{name}: {error}") from error


def _free_name(name: str, taken: set[str]) -> str:
    """Return `name`, or `name #2`, `name #3` and so on if the name is taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} #{number}"
    return free


def _note_excluded(
    subjects: list[_Subject], candidates: dict[str, Loadable], *, given: int
) -> None:
    """Say which files the inspection refused. Raise UsageError if fewer than two of the `given` libraries are left."""
    for subject in subjects:
        if subject.loadable is None:
            library = subject.library
            # A name such as "mine #2" says which of several files with the same name is meant.
            named = library.file if library.file.startswith(library.name) else library.name
            _note(f"{named} is excluded, because the inspection refused it: {library.refused}")
    if len(candidates) < 2:  # noqa: PLR2004 - a comparison needs two
        only = f"only {next(iter(candidates))} is left" if candidates else "none is left"
        only += " (the lines above say why)"
        if given == 1 and candidates:
            only = f"only {next(iter(candidates))} was given"
        raise UsageError(
            f"a comparison needs at least two different libraries, and {only}: give another file, or the same "
            "structure with another configuration (LIB:CONFIG); to see the effect of noise alone, name a file twice "
            "and give --keep-same"
        )


def _note_too_few_sessions(libraries: int, sessions: int) -> None:
    needed = sessions_needed(libraries)
    if sessions < needed:
        count = "one session is" if sessions == 1 else f"{sessions} sessions are"
        _note(
            f"{count} too few to decide anything between {libraries} libraries, however different "
            f"they are: give --sessions {needed} or more"
        )


def _noise() -> list[str]:
    """Return warnings if the machine is busy. The user sees them before a long run, and can stop other work."""
    return [
        f"this machine is noisy ({setting.name}: {setting.found}), so small differences stay undecided: "
        f"{setting.remedy}"
        for setting in settings_of()
        if setting.name in {"load", "stolen time"} and setting.fit is False
    ]


def _estimated(heartbeat: Heartbeat, forecaster: Forecaster) -> Heartbeat:
    """Return a heartbeat function that says after the rehearsal how long the blocks take, and starts the forecaster."""
    began = time.monotonic()
    is_shown = False

    def beat(progress: Progress) -> bool:
        nonlocal is_shown
        if progress.session == 1 and not is_shown:
            is_shown = True
            forecaster.begin()
            count = progress.sessions
            takes = duration((time.monotonic() - began) * count)
            _note(
                f"1 block, which runs every library once, takes about {takes}; noisy blocks are repeated"
                if count == 1
                else f"{count} blocks, each of which runs every library once, take about {takes}; "
                "noisy blocks are repeated"
            )
        return heartbeat(progress)

    return beat


def _line(progress: Progress) -> str:
    """Return the current block, for output that is not a terminal."""
    return (
        f"block {progress.session}/{progress.sessions}"
        if progress.session
        else "rehearsal (not counted)"
    )


def _label(progress: Progress) -> str:
    if progress.session == 0:
        return f"rehearsal (not counted): {progress.role}"
    return f"block {progress.session}/{progress.sessions}: {progress.role}"


def _note(text: str) -> None:
    print(f"keydrome: {text}", file=sys.stderr, flush=True)


def _show(compared: Compared, stream: TextIO, *, details: bool) -> None:
    from cli.output import compare_table, table  # noqa: PLC0415 - rich is slow to import

    show = compare_table.show_details if details else compare_table.show
    show(table.console(stream), compared)
