"""Inspects a library file without running it: which contract (kind of API) it implements, or why it cannot be run.

A child process (child.py) with resource limits reads the file, so a file that crashes or stalls its reader does no
harm. Inspection reports an uploader's mistakes at once. It does not protect the machine from hostile code; the jail,
the sandbox in which the library runs later, does.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.catalogue import trusted_needed
from runner.inspection.limits import ADDRESS_SPACE_BYTES, CPU_SECONDS
from runner.report import Finding
from runner.store import MAKE_SMALLER, sizes_in_mib
from runner.strict import ObjectReader, parse_object
from runner.terms import Severity
from runner.text import capped, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.settings import Settings

# Two limits apply to the child. It limits its own CPU time: a file that needs more is at fault. WALL_SECONDS is wall
# time: a child that exceeds it got too little CPU time, so the machine is at fault (UNFINISHED). A correct file takes
# 0.2 s of CPU time.
WALL_SECONDS = 30
# The name of the refusal for a machine that was too busy to read the file. It says nothing about the file.
UNFINISHED = "inspection_unfinished"
_READER = (sys.executable, "-m", "runner.inspection.child")
_TEXT_CHARACTERS_MAX = 1000
ALLOWED_NEEDED = frozenset(
    {
        "libc.so.6",
        "libm.so.6",
        "libpthread.so.0",
        "libdl.so.2",
        "librt.so.1",
        "libstdc++.so.6",
        "libgcc_s.so.1",
        "ld-linux-x86-64.so.2",
        # The programming contest of SIGMOD 2009 let entries use Berkeley DB. Debian's static archive of Berkeley DB is
        # not position-independent, so an entry cannot link it statically.
        "libdb-5.3.so",
    }
)
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFIFO: "a pipe (FIFO)",
    stat.S_IFSOCK: "a socket",
}
_LIBRARY_FOLDERS = (
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
)


class LibraryKind(StrEnum):
    """Which contract a file implements.

    INDEX is contract A (the ten calls of the index API). STRUCTURE is contract B (a data structure without
    transactions). UNKNOWN is neither.
    """

    INDEX = "index"
    STRUCTURE = "structure"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason why a file is not run: the problem, and what the uploader can do (`remedy`)."""

    name: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.problem}: {self.remedy}"


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """The result of an inspection. A library with refusals is never loaded."""

    kind: LibraryKind
    size_bytes: int
    refusals: tuple[Refusal, ...] = ()
    soname: str = ""
    needed: tuple[str, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()  # (shared object, newest symbol version needed)
    calls: tuple[str, ...] = ()  # contract A calls that the file exports
    missing: tuple[str, ...] = ()  # contract A calls that the file does not export
    extensions: tuple[str, ...] = ()  # exported names that begin with keydrome_
    risk_flags: tuple[str, ...] = ()  # hints for organisers, without effect on the verdict

    @property
    def is_unfinished(self) -> bool:
        """Return True if the machine, not the file, is the reason why the file was not inspected."""
        return any(refusal.name == UNFINISHED for refusal in self.refusals)

    def to_json(self) -> dict[str, Any]:
        """Return the facts as JSON, for RunReport.library_facts."""
        return {
            "kind": self.kind.value,
            "size_bytes": self.size_bytes,
            "refusals": [
                {"name": r.name, "problem": r.problem, "remedy": r.remedy} for r in self.refusals
            ],
            "soname": self.soname,
            "needed": list(self.needed),
            "versions": dict(self.versions),
            "calls": list(self.calls),
            "missing": list(self.missing),
            "extensions": list(self.extensions),
            "risk_flags": list(self.risk_flags),
        }


def refusals_text(refusals: Sequence[Refusal]) -> str:
    """Return all reasons to refuse a file. If there are several, they are numbered, each with what to do."""
    if len(refusals) == 1:
        return str(refusals[0])
    numbered = (f"({number}) {refusal}" for number, refusal in enumerate(refusals, start=1))
    return f"{len(refusals)} problems: {'; '.join(numbered)}" if refusals else ""


def refusal_findings(refusals: Iterable[Refusal]) -> tuple[Finding, ...]:
    """Return the refusals as findings (entries of a report) of the suite "inspection"."""
    return tuple(
        Finding("inspection", refusal.name, Severity.REQUIRED, str(refusal)) for refusal in refusals
    )


def inspect_library(path: Path, settings: Settings, *, trusted: bool = False) -> LibraryFacts:
    """Return the facts about the file at `path`, with the reasons to refuse it. Takes about 0.2 s; thread-safe.

    If `trusted` is True, the file may also link against the shared objects that reference libraries need. Raises
    OSError if the file cannot be opened. A problem of the file's content is a refusal, not an exception.
    """
    # O_NONBLOCK is needed because the path may name a pipe without a writer. Opening such a pipe would block.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:  # os.fdopen would raise IsADirectoryError for a folder, but a folder must become a refusal with a message
        state = os.fstat(descriptor)
        refusal = _refuse_unread(state, settings.library_bytes_max)
        if refusal is not None:
            return LibraryFacts(LibraryKind.UNKNOWN, state.st_size, (refusal,))
        allowed = ALLOWED_NEEDED | (trusted_needed(settings) if trusted else frozenset())
        answer = _ask_child(descriptor, allowed)
    finally:
        os.close(descriptor)
    return _facts(answer, state.st_size)


def file_kind(mode: int) -> str:
    """Return what a file is that is not a regular file, from its st_mode, for messages."""
    return _KINDS.get(stat.S_IFMT(mode), "a special file")


def _refuse_unread(state: os.stat_result, limit_bytes: int) -> Refusal | None:
    if not stat.S_ISREG(state.st_mode):
        return Refusal(
            "not_a_file",
            f"this is {file_kind(state.st_mode)}, not a regular file",
            "give the path of a shared object, such as ./NAME.so",
        )
    if state.st_size > limit_bytes:
        return Refusal(
            "too_large",
            f"the file {sizes_in_mib(state.st_size, limit_bytes)}",
            MAKE_SMALLER,
        )
    return None


def _ask_child(descriptor: int, allowed: frozenset[str]) -> str:
    request = json.dumps({"allowed": sorted(allowed), "folders": _LIBRARY_FOLDERS})
    try:
        child = subprocess.run(
            [*_READER, request],
            stdin=descriptor,
            capture_output=True,
            cwd=Path(__file__).parents[2],
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            timeout=WALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _unfinished(f"reading did not end within {WALL_SECONDS} s")
    if child.returncode == -signal.SIGKILL:
        return _unfinished(
            "SIGKILL ended the process that read the file, for example because memory ran out"
        )
    if child.returncode == -signal.SIGXCPU:
        return _stuck(f"reading the file takes more than {CPU_SECONDS} s of CPU time")
    if child.returncode < 0:
        signal_name = signal.strsignal(-child.returncode)
        return _stuck(
            f"the file is damaged or unusual: the program that reads it crashed ({signal_name})"
        )
    if child.returncode != 0:
        detail = child.stderr.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1]
        limit_mib = ADDRESS_SPACE_BYTES >> 20
        return _stuck(
            f"the program that reads the file, with at most {limit_mib} MiB of memory, failed: {detail[:300]}"
        )
    return child.stdout.decode("utf-8", "replace")


def _stuck(problem: str) -> str:
    return _refused(
        "inspection_limit",
        problem,
        "use the file exactly as the linker wrote it, or strip it (strip --strip-unneeded)",
    )


def _unfinished(detail: str) -> str:
    return _refused(
        UNFINISHED,
        f"the machine could not finish the inspection of the file ({detail})",
        "the file is not at fault; try again when the machine has less other work and more free memory",
    )


def _refused(name: str, problem: str, remedy: str) -> str:
    refusal = {"name": name, "problem": problem, "remedy": remedy}
    return json.dumps({"kind": "unknown", "refusals": [refusal]})


def _facts(answer: str, size_bytes: int) -> LibraryFacts:
    reader = ObjectReader(parse_object(answer, "inspection"), "inspection")
    refusals = []
    for index, item in enumerate(reader.items("refusals")):
        entry = ObjectReader(item, f"inspection.refusals[{index}]")
        problem, remedy = _shown(entry.text("problem")), _shown(entry.text("remedy"))
        refusals.append(Refusal(entry.text("name"), problem, remedy))
        entry.end()
    versions = reader.mapping("versions", required=False)
    facts = LibraryFacts(
        kind=reader.word("kind", LibraryKind),
        size_bytes=size_bytes,
        refusals=tuple(refusals),
        soname=_shown(reader.text("soname", "")),
        needed=_all_shown(reader.texts("needed", required=False)),
        versions=tuple((_shown(name), _shown(str(version))) for name, version in versions.items()),
        calls=reader.texts("calls", required=False),
        missing=reader.texts("missing", required=False),
        extensions=_all_shown(reader.texts("extensions", required=False)),
        risk_flags=_all_shown(reader.texts("risk_flags", required=False)),
    )
    reader.end()
    return facts


def _shown(text: str) -> str:
    """Return an untrusted text from the file, made safe and short enough for pages, logs and databases."""
    return capped(printable(text), _TEXT_CHARACTERS_MAX)


def _all_shown(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(_shown, texts))
