"""Says in sentences what to know and to do after `keydrome check`: what was played, where the files are, how to debug.

A suite is a correctness benchmark. A session is one run of the library on one instance, a set of parameters of a suite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.check_tally import LEAK
from cli.output.build_text import contract_test, sanitizer_session
from cli.output.busy_text import what_to_end
from cli.output.check_proof import is_explained, smallest_proof
from cli.output.configuration_text import what_to_choose
from cli.output.crash_text import (
    CRASHED,
    calls_inside,
    crashes,
    find_damage,
    find_leak,
    find_race,
    is_heap_damaged,
    is_race,
    may_be_race,
    meaning,
)
from cli.witness_folder import README
from results.counts import counted
from runner.inspection.library import LibraryKind
from runner.terms import Scale, Verdict
from runner.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.check_tally import Tally
    from cli.witness_folder import WitnessFolder

_GUIDE = "docs/how-to/read-a-witness.md"
_DAMAGED = ("corrupt_key", "corrupt_payload")  # findings about data that no call inserted
# Nothing but the library orders the threads of these benchmarks. Those of the first make all calls, but open and close
# few indexes; those of the second do this often.
_RACY = "--benchmark isolation"
_RACY_HANDLES = "--benchmark sigmod2009"
_HIDDEN_RACES = "but it can still have data races, because a race need not cause wrong results"
_MEBIBYTE = 1 << 20


def notes(
    tally: Tally, suites: list[str], scale: Scale, witness: WitnessFolder | None
) -> Iterator[str]:
    """Yield what the user should know or do next, one line each. `suites` are those of the command."""
    if tally.repeated:
        yield _repeated(tally)
    if tally.not_run:
        left = ", ".join(dict.fromkeys(name.partition("/")[0] for name in tally.not_run))
        yield f"not run: {left} ({counted(len(tally.not_run), 'instance')}), because {tally.why_not_run}"
    if tally.verdict is Verdict.PASSED:
        yield _what_passed(suites, scale)
    if tally.replays.memory[0]:
        peak, instance = tally.replays.memory
        yield f"memory: at most {peak / _MEBIBYTE:,.1f} MiB, in {instance}"
    if tally.verdict is Verdict.UNSUPPORTED:
        choices = {what_to_choose(finding.detail) for finding in tally.findings.values()}
        yield from (f"next: {text}" for text in choices if text)
    if tally.verdict is Verdict.INFRASTRUCTURE:
        remedies = {what_to_end(finding.detail) for finding in tally.findings.values()}
        yield from (f"next: {text}" for text in remedies if text)
    yield from _files(tally, witness)
    yield from _crash_notes(tally)
    if tally.replays.debug:
        yield f"debug: {tally.replays.debug}"
    yield from _structure(tally)
    if tally.replays.leak and _has(tally, LEAK):
        yield f"leak: {find_leak(tally.library, tally.replays.leak, cpp=tally.cpp)}"
    if tally.verdict is Verdict.PASSED:
        yield from _more_races(tally)
    # The guide is about calls and transactions. A refused file or configuration has played none, and a crash without a
    # witness shows none.
    if tally.verdict is not Verdict.UNSUPPORTED and any(map(is_explained, tally.findings.values())):
        yield f"how to read a finding: {_GUIDE}"


def _repeated(tally: Tally) -> str:
    """Return which instances were repeated, why, and whether the user has to do something."""
    first, reason = next(iter(tally.repeated.items()))
    of_first = f" for {first}" if len(tally.repeated) > 1 else ""
    text = f"repeated, because the first attempt could not be judged: {', '.join(tally.repeated)}. "
    text += f"The reason{of_first}: {reason}"
    # The reason may advise to repeat the run.
    is_judged = not _has(tally, Verdict.INFRASTRUCTURE.value)
    return f"{text}. The repetition was judged, so you need do nothing" if is_judged else text


def _files(tally: Tally, witness: WitnessFolder | None) -> Iterator[str]:
    if witness is not None and witness.problem:
        yield f"warning: {witness.path}: {witness.problem}"
    elif witness is not None and tally.findings:
        yield f"files: {witness.path / README} says where to start"
        if witness.earlier_files:
            before = counted(witness.earlier_files, "file")
            yield f"note: the folder had {before} before this run; README.txt names the files of this run"
    elif any(finding.witness is not None for finding in tally.findings.values()):
        yield "next: with --witness DIR, this command writes the proofs as text, pictures and C programs"


def _crash_notes(tally: Tally) -> Iterator[str]:
    if tally.replays.printed and _has(tally, CRASHED):
        yield f"the library printed: {printable(tally.replays.printed)}"
    is_structure = tally.facts.kind is LibraryKind.STRUCTURE
    session = tally.replays.ended
    # ThreadSanitizer does not see the locks of the runtime, so its reports about a structure mislead.
    may_race = tally.alone_passed is not False and not is_structure
    crash = smallest_proof(one for one in tally.findings.values() if crashes(one))
    if crash is not None and calls_inside(crash):
        sentences = meaning(
            crash, tally.library, alone_passed=tally.alone_passed, is_structure=is_structure
        )
        yield f"crash: {' '.join(sentences)}"
        races = is_race(crash) and may_race
        race = f"race: {find_race(tally.library, session, cpp=tally.cpp)}"
        memory = f"memory: {find_damage(tally.library, session, cpp=tally.cpp)}"
        if not races:
            yield memory
        else:
            # The more likely cause comes first.
            both = [race] if tally.alone_passed else [race, memory]
            yield from [memory, race] if is_heap_damaged(crash) else both
            return
    if may_be_race(tally.findings.values()) and may_race:
        yield (
            "race: the library hangs or crashes, and also gives wrong results. One data race can be the cause of all "
            f"of this. {find_race(tally.library, session, aim='To look for it', cpp=tally.cpp)}"
        )
    elif any(_has(tally, name) for name in _DAMAGED) and tally.alone_passed and may_race:
        yield (
            "race: the library returned data that no call inserted. With one thread (suite differential) it passed, "
            "so two threads probably use the same memory without a lock (a data race). "
            f"{find_race(tally.library, _RACY, aim='To look for it', cpp=tally.cpp)}"
        )


def _structure(tally: Tally) -> Iterator[str]:
    """Yield how to test a structure alone, which shows a wrong function more directly than transactions do."""
    is_structure = tally.facts.kind is LibraryKind.STRUCTURE
    if tally.verdict is Verdict.FAILED and is_structure and not tally.is_ours:
        yield (
            f"structure: `{contract_test(tally.library)}` tests the functions of the structure without transactions; a "
            "failed test names the wrong call (docs/reference/structure-api.md)"
        )


def _has(tally: Tally, name: str) -> bool:
    return any(finding.name == name for finding in tally.findings.values())


def _what_passed(suites: list[str], scale: Scale) -> str:
    more = "; --scale laptop plays more, and finds rarer faults" if scale is Scale.SMOKE else ""
    return f"checked: {', '.join(suites)} at {scale.value} scale{more}"


def _more_races(tally: Tally) -> Iterator[str]:
    """Yield how to look for data races in a library that passed, because a race need not cause wrong results."""
    if tally.facts.kind is LibraryKind.STRUCTURE:
        # ThreadSanitizer does not see the locks of the runtime, so its reports about a structure mislead.
        yield (
            f"race: the structure passed, {_HIDDEN_RACES}. If it claims to be thread-safe, also test it with "
            f"`{contract_test(tally.library)}` (docs/reference/structure-api.md)"
        )
    elif tally.facts.kind is LibraryKind.INDEX and not tally.is_ours:
        found = find_race(tally.library, _RACY, aim="To look for them", cpp=tally.cpp)
        handles = sanitizer_session(tally.library, "thread", _RACY_HANDLES)
        yield (
            f"race: the library passed, {_HIDDEN_RACES}. {found}. `{handles}` also finds races of openIndex and "
            "closeIndex"
        )
