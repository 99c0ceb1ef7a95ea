"""Writes the folder of `keydrome check --witness DIR`: witnesses, reports, histories, and a README.txt that explains.

A witness contains the calls that prove a violation. A report is what the referee, the program that judges a library,
wrote about a session. A history contains all calls of one phase of a session, with their results.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cli.check_tally import LEAK
from cli.output.build_text import compile_command, with_paths
from cli.output.check_proof import heading, is_explained
from cli.output.crash_text import crash_file, crashes
from cli.output.debug_text import (
    debug_command,
    how_to_debug,
    keydrome_command,
    session_options,
)
from results.witness_picture import witness_svg
from results.witness_text import witness_text
from runner.output_file import move_file, write_file
from runner.terms import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from runner.report import Finding, Report
    from runner.series import SeriesResult
    from runner.witness import Witness

README = "README.txt"
# With this limit, the folder is small enough to send by email. --all-histories keeps every history.
HISTORY_BYTES_MAX = 200_000
_GUIDE = "docs/how-to/read-a-witness.md"
_DEBUG_GUIDE = "docs/how-to/debug-a-library.md"
_FILES = {
    ".txt": "a proof as text: transactions, calls, and why one must precede another",
    ".svg": "the same proof as a picture: open it in a browser",
    ".c": "a program that makes the same calls; its first lines say how to compile it",
    ".json": "the report of a session, with every finding",
    ".history": "all calls of a recorded phase: build/release/bin/certify FILE judges these calls again",
}


@dataclass(slots=True)
class WitnessFolder:
    """The folder, and what is in it.

    `problem` says why no more files can be written, for example because the disk is full. A verdict does not depend on
    these files, so a problem ends only the writing.
    """

    path: Path
    library: str  # as named on the command line
    file: Path  # its file, as an absolute path
    options: str = ""  # further options of the command, each after a space
    all_histories: bool = False
    problem: str = ""
    # By suite (correctness benchmark) and name of a finding: the file name, without suffix, of its files.
    stems: dict[tuple[str, str], str] = field(default_factory=dict)
    to_debug: str = ""  # how to play the first session that ended by a crash or at a time limit
    to_find_leak: str = ""  # the command that lists the memory that a session did not free
    # Whether the library passed the suite with one thread, or None if this suite has not run.
    alone_passed: bool | None = None
    is_structure: bool = False
    # How many files the folder contained before this run.
    earlier_files: int = 0
    history_bytes: int = 0
    histories_left_out: int = 0

    def keep(self, result: SeriesResult, histories: Path) -> None:
        """Write the files of the sessions if the library did not pass, and move the histories from `histories`."""
        if self.problem:
            return
        for session in result.sessions:
            if any(finding.name == LEAK for finding in session.candidate.findings):
                leaking = debug_command(self.library, session.candidate, session.seed, {})
                self.to_find_leak = self.to_find_leak or f"{leaking} --tool valgrind"
        try:
            if result.verdict is not Verdict.PASSED:
                for session in result.sessions:
                    self._keep_report(session.candidate, session.seed)
            for history in sorted(histories.iterdir(), key=lambda path: path.stat().st_size):
                self._keep_history(history)
        except OSError as error:
            self.problem = f"not all files could be written{_why(error)}"

    def finish(self, first: Finding | None, findings: list[Finding], seed: str) -> None:
        """Write README.txt. `first` is the finding to begin with, `seed` the --seed that repeats the run."""
        if self.problem or not findings:
            return
        try:
            write_file(self.path / README, self._readme(first, findings, seed))
        except OSError as error:
            self.problem = f"{README} could not be written{_why(error)}"

    def _keep_report(self, report: Report, seed: str) -> None:
        name = f"{report.benchmark}-{report.instance}-{seed}"
        write_file(self.path / f"{name}.json", json.dumps(report.to_json(), allow_nan=False) + "\n")
        self.to_debug = self.to_debug or how_to_debug(self.library, report, seed, overrides={})
        for number, finding in enumerate(report.findings, 1):
            command = debug_command(self.library, report, seed, overrides={})
            if finding.witness is None:
                continue
            stem = f"{name}-{number}-{finding.name}"
            self.stems.setdefault((finding.suite, finding.name), stem)
            source = (self.path / f"{stem}.c").absolute()
            program = with_paths(finding.witness.program, source, self.file)
            if crashes(finding):
                session, compiled = session_options(report, seed, {}), compile_command(program)
                alone = self.alone_passed
                text = crash_file(
                    finding,
                    self.library,
                    session,
                    compiled,
                    alone_passed=alone,
                    is_structure=self.is_structure,
                )
            else:
                text = _text(finding, finding.witness, name, command)
            _write_witness(self.path / stem, finding.witness, text, program)

    def _keep_history(self, history: Path) -> None:
        size = history.stat().st_size
        if not self.all_histories and self.history_bytes + size > HISTORY_BYTES_MAX:
            self.histories_left_out += 1
            return
        move_file(history, self.path / history.name)
        self.history_bytes += size

    def _readme(self, first: Finding | None, findings: list[Finding], seed: str) -> str:
        lines = ["Start here.", ""]
        if first is not None:
            lines += [f"The smallest proof: {heading(first)}", "", first.detail, ""]
            lines += [f"  read {stem}.txt" for stem in self._stem(first)]
            lines += self._compiled(first)
        else:
            lines.append("The library passed. These are warnings:")
            for finding in findings:
                lines += ["", heading(finding), "", finding.detail]
        lines += [
            "",
            "Every finding, with the files that show it (several findings may have the same cause):",
            "",
        ]
        for finding in findings:
            files = "".join(f": {stem}.*" for stem in self._stem(finding))
            lines.append(f"  {finding.severity.value} {heading(finding)}{files}")
        lines.append("")
        kinds = {path.suffix for path in self.path.iterdir() if path.name != README}
        if kinds:
            explained = [f"  {kind:<9} {what}" for kind, what in _FILES.items() if kind in kinds]
            lines += ["What the files are:", *explained, ""]
        if self.histories_left_out:
            lines += [
                f"Large histories that are left out: {self.histories_left_out}; --all-histories keeps all.",
                "",
            ]
        if self.to_debug:
            lines.append(f"To debug: {self.to_debug}")
        if self.to_find_leak:
            lines.append(f"To list the leak: {self.to_find_leak}")
        if self.to_debug or self.to_find_leak:
            lines.append(f"How to debug: {_DEBUG_GUIDE}")
        repeated = f"{keydrome_command()} check {self.library}{self.options} --seed {seed}"
        lines.append(f"To repeat the run: {repeated}")
        if any(is_explained(finding) for finding in findings):
            lines.append(f"To read more: {_GUIDE}")
        return "\n".join(lines) + "\n"

    def _compiled(self, finding: Finding) -> list[str]:
        """Return the command that compiles and runs the C program of a finding, if there is one."""
        for stem in self._stem(finding):
            source = self.path / f"{stem}.c"
            command = compile_command(source.read_text("utf-8")) if source.is_file() else ""
            if command:
                return [f"  run  {command} && {command.rpartition(' -o ')[2]}"]
        return []

    def _stem(self, finding: Finding) -> list[str]:
        stem = self.stems.get((finding.suite, finding.name))
        return [] if stem is None else [stem]


def _text(finding: Finding, witness: Witness, session: str, command: str) -> str:
    """Return the text of a witness. `session` begins the names of the session's histories; `command` plays it again."""
    if witness.transactions:
        return witness_text(witness)
    lines = [finding.detail, ""]
    if not witness.program:
        lines += [
            "Many threads made these calls at the same time, so there is no short list of calls, and a repetition",
            f"can differ. All calls of the phase are in {session}-*.history; if this file is missing,",
            "--all-histories keeps it.",
            "",
        ]
    return "\n".join([*lines, f"To play the session again: {command}"]) + "\n"


def _write_witness(stem: Path, witness: Witness, text: str, program: str) -> None:
    files = {
        ".txt": text,
        ".svg": witness_svg(witness),
        ".c": program,
    }
    for suffix, content in files.items():
        if content:
            write_file(stem.with_name(stem.name + suffix), content)


def _why(error: OSError) -> str:
    """Return the reason and what to do. If the reason is the system's, the advice names the option of this command."""
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    if cause.strerror is None:  # the text of an OutputFileError has the reason and the advice
        return f": {error}"
    return f" ({cause.strerror}): fix this problem, or give --witness another folder"
