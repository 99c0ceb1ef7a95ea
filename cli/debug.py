"""Implements `keydrome debug`: plays one session in a process that a debugger or a sanitizer can watch.

A session is one repetition of a benchmark. Nothing is judged, and the library is not in a jail (a sandbox): it has the
rights of the user. So only this command starts the program `debug_session`. The site and its workers never do.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from cli.input.libraries import chosen_configuration, configured, find_runnable, title
from cli.input.request import chosen_benchmark, request_of
from cli.input.values import UsageError, seed_series
from cli.output.debug_text import PROGRAM
from cli.output.files import write_json
from cli.output.progress import announce
from runner.inspection.library import (
    LibraryFacts,
    LibraryKind,
    inspect_library,
    refusals_text,
)
from runner.inspection.rules import sanitizer_runtimes
from runner.referee import build_plan
from runner.request import make_loadable
from runner.settings import BUILD_FIRST, load_settings
from runner.terms import JailLevel
from runner.text import display_name, printable

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from runner.request import Request
    from runner.settings import Settings

_COULD_NOT_PLAY = 2
_INTERRUPTED = 130
# Without fair scheduling, a thread that waits in a loop can keep all others from running. Memory that the library has
# not freed at the end is reported, but it is no error: a library need not free everything before the process ends.
_VALGRIND = (
    "--fair-sched=yes",
    "--leak-check=full",
    "--show-leak-kinds=definite,possible,reachable",
    "--errors-for-leak-kinds=none",
    "--error-exitcode=1",
)
# DWARF finds the callers also in a library that is built without frame pointers.
_PERF_RECORD = ("perf", "record", "--quiet", "--call-graph", "dwarf,4096")
_PERF_REPORT = ("--stdio", "--no-children", "--percentage", "relative", "--comm", PROGRAM)
_PERF_LINES_MAX = 20
# What gdb returns with -return-child-result if the process has not exited.
_GDB_NO_EXIT = 255
# On some kernels, a program with the thread sanitizer exits at once if the kernel randomises addresses.
_FIXED_ADDRESSES = ("setarch", "--addr-no-randomize")


_PACKAGES = {
    "gdb": "gdb",
    "valgrind": "valgrind",
    "perf": "linux-perf (Debian) or linux-tools-generic (Ubuntu)",
}


class Tool(StrEnum):
    """What watches the library.

    STACK is gdb without interaction: after a crash it prints the stacks and ends. PERF shows which functions take the
    time.
    """

    GDB = "gdb"
    STACK = "stack"
    VALGRIND = "valgrind"
    PERF = "perf"


@dataclass(frozen=True, slots=True)
class Debugged:
    """The program with its argument, and the runtimes of the library's sanitizers, which are loaded first."""

    program: Path
    plan: Path
    runtimes: tuple[str, ...]

    @property
    def samples(self) -> Path:
        """Return the file into which perf writes its samples."""
        return self.plan.with_name("perf.data")

    @property
    def has_thread_sanitizer(self) -> bool:
        """Return True if the library is built with -fsanitize=thread."""
        return any("tsan" in runtime for runtime in self.runtimes)

    def variables(self, tool: Tool | None) -> dict[str, str]:
        """Return the variables to add to the environment of the program."""
        if not self.runtimes:
            return {}
        # abort_on_error makes a sanitizer end its report with a signal, at which the debugger stops the process. The
        # search for leaks is off, because it fails in a process that a debugger traces.
        asked = os.environ.get("ASAN_OPTIONS", "")
        watched = ":".join(filter(None, (asked, "abort_on_error=1", "detect_leaks=0")))
        options = {} if tool is None else {"ASAN_OPTIONS": watched}
        return {"LD_PRELOAD": " ".join(self.runtimes), **options}

    def command(self, tool: Tool | None) -> list[str]:
        """Return the command that plays the session under the tool."""
        played = [str(self.program), str(self.plan)]
        if tool is None:
            added = [f"{name}={value}" for name, value in self.variables(tool).items()]
            fixed = _FIXED_ADDRESSES if self.has_thread_sanitizer else ()
            return [*(["env", *added] if added else []), *fixed, *played]
        if tool is Tool.VALGRIND:
            return ["valgrind", *_VALGRIND, *played]
        if tool is Tool.PERF:
            return [*_PERF_RECORD, "-o", str(self.samples), "--", *played]
        setup = ["set startup-with-shell off", "set print thread-events off"]
        setup += [f"set environment {name} {value}" for name, value in self.variables(tool).items()]
        batch = ["-batch", "-return-child-result"] if tool is Tool.STACK else []
        after = ["backtrace 40", "thread apply all backtrace 40"] if tool is Tool.STACK else []
        steps = [part for step in (*setup, "run", *after) for part in ("-ex", step)]
        return ["gdb", "-q", *batch, *steps, "--args", *played]


def run(options: argparse.Namespace) -> int:
    """Run the command; return 0 if every call returned, and 1 if not.

    Without a tool, return 2 if the session could not be played.
    """
    settings = load_settings()
    tool = None if options.tool is None else Tool(options.tool)
    program = settings.build / "bin" / PROGRAM
    if not program.is_file():
        raise UsageError(f"{program} is missing: {BUILD_FIRST}")
    named = find_runnable(options.library, settings)
    name = display_name(named.path.name)
    announce(f"reading {name}")
    facts = inspect_library(named.path, settings, trusted=True)
    if facts.kind is LibraryKind.UNKNOWN:
        raise UsageError(f"{name}: {refusals_text(facts.refusals)}")
    runtimes = sanitizer_runtimes(facts.needed)
    _check_tool(tool, runtimes)
    chosen = chosen_configuration(named, options.config, settings)
    request = _request(options, configured(facts, chosen, settings), settings)
    plan = _write_plan(named.path.resolve(), facts, request, settings)
    debugged = Debugged(program, plan, runtimes)
    shown = title(name, request.configuration, is_default=chosen is None)
    for line in _introduction(shown, request, debugged):
        print(printable(line))
    sys.stdout.flush()
    if tool is Tool.GDB:
        # gdb replaces this process, because Ctrl-C must stop the library and not this command.
        os.chdir(plan.parent)
        os.execvp(Tool.GDB.value, debugged.command(tool))  # noqa: S606 - the arguments are paths, no shell reads them
    status = _play(debugged, tool)
    if tool is Tool.PERF and status in {0, -signal.SIGINT}:
        _show_profile(debugged)
    if tool is Tool.PERF and status == -signal.SIGINT:
        print("debug: Ctrl-C ended the session; the profile shows the part that was played")
        return _INTERRUPTED
    print(printable(_ending(status, debugged, tool)))
    if status == _COULD_NOT_PLAY and tool is None:
        return _COULD_NOT_PLAY
    return 0 if status == 0 else 1


def _play(debugged: Debugged, tool: Tool | None) -> int:
    """Play the session, and return its exit status, or the negative number of the signal that ended it."""
    command, folder = debugged.command(tool), debugged.plan.parent
    if tool is not Tool.PERF:
        return subprocess.run(command, cwd=folder, check=False).returncode
    print("perf: Ctrl-C ends the session early, and the profile shows the part that was played")
    sys.stdout.flush()
    # Ctrl-C reaches perf too, which then writes its samples. This process must wait for them.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.run(command, cwd=folder, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def _show_profile(debugged: Debugged) -> None:
    """Print the functions that take the most time, and the command that shows their callers."""
    report = ["perf", "report", "-i", str(debugged.samples), *_PERF_REPORT]
    flat = [*report, "-g", "none", "--percent-limit", "1", "--sort", "dso,symbol"]
    shown = subprocess.run(flat, check=False, capture_output=True, text=True)
    # Some versions of perf end each line with empty columns.
    lines = [re.sub(r"[\s-]*$", "", line) for line in shown.stdout.splitlines() if line[:1] != "#"]
    lines = [line for line in lines if line]
    print("time of the process, by function:")
    print(printable("\n".join(lines[:_PERF_LINES_MAX])))
    print(
        f"callers: {shlex.join(['perf', 'report', '-i', str(debugged.samples), *_PERF_REPORT[1:]])}"
    )


def _check_tool(tool: Tool | None, runtimes: tuple[str, ...]) -> None:
    if tool is None:
        return
    if tool in {Tool.VALGRIND, Tool.PERF} and runtimes:
        raise UsageError(
            f"the library needs {', '.join(runtimes)}, and {tool.value} cannot run a library that is built with a "
            "sanitizer: leave --tool out, or build the library without -fsanitize"
        )
    needed = Tool.GDB.value if tool is Tool.STACK else tool.value
    if shutil.which(needed) is None:
        raise UsageError(
            f"--tool {tool.value} needs {needed}, which is not installed: install it, for example with apt-get install "
            f"{_PACKAGES[needed]}"
        )


def _request(
    options: argparse.Namespace, configuration: dict[str, object] | None, settings: Settings
) -> Request:
    request = request_of(
        options,
        chosen_benchmark(options, settings),
        settings,
        seeds=seed_series(options.seed, 1),
        require=JailLevel.NONE,
        control=False,
    )
    return replace(request, configuration=configuration)


def _write_plan(library: Path, facts: LibraryFacts, request: Request, settings: Settings) -> Path:
    """Write the plan into a folder of its own, which is also the working directory of the library."""
    (seed,) = request.seeds
    folder = settings.var / "debug" / f"{request.benchmark.name}-{request.instance}-{seed}"
    # As in a jail, the library finds no files of an earlier session.
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    plan = folder / "plan.json"
    loadable = make_loadable(library, facts, request, settings)
    write_json(plan, build_plan(loadable, request, seed, settings))
    return plan


def _introduction(name: str, request: Request, debugged: Debugged) -> list[str]:
    (seed,) = request.seeds
    played = (
        f"{request.benchmark.name}/{request.instance}, {request.scale.value} scale, seed {seed}"
    )
    lines = [
        "debug: NOT JUDGED, NOT JAILED: the library has all your rights, and its results are not checked",
        f"plays: {name} on {played}",
        f"folder: {debugged.plan.parent}",
        f"again: {shlex.join(debugged.command(None))}",
        f"gdb: {shlex.join(debugged.command(Tool.GDB))}",
    ]
    if not debugged.runtimes:
        lines.append(f"valgrind: {shlex.join(debugged.command(Tool.VALGRIND))}")
    if debugged.has_thread_sanitizer:
        lines.append(
            "note: the thread sanitizer does not see how Keydrome's own code orders threads. In a benchmark that "
            "orders its threads, such as `scenarios`, the sanitizer can report races that do not exist: use ycsb or "
            "isolation instead"
        )
        if request.configuration is not None:
            lines.append(
                "note: the thread sanitizer also does not see the locks with which Keydrome's runtime protects a "
                "structure. So it reports races in the structure that do not exist "
                "(docs/how-to/debug-a-library.md)"
            )
    return lines


def _ending(status: int, debugged: Debugged, tool: Tool | None) -> str:
    if status == 0:
        # Some sanitizers leave the status at 0 after a report.
        unreported = (
            ". Without a report above, the sanitizer found no fault in this session, but another --benchmark or "
            "--seed may show one"
        )
        ended = "debug: the session ended; nothing was judged"
        return f"{ended}{unreported if debugged.runtimes else ''}"
    if tool is Tool.STACK and status == _GDB_NO_EXIT:
        return (
            "debug: a signal stopped the process. Above are the name of the signal, the stack of the stopped thread, "
            "and the stacks of all threads. If the stack of the stopped thread does not show your library, an earlier "
            "call has probably damaged memory, or two threads have used the same memory at once. To find out, build "
            "the library with -fsanitize=address or -fsanitize=thread, and play the session without --tool"
        )
    if tool is not None:
        return f"debug: {tool.value} ended with status {status}: see its output above; nothing was judged"
    if status < 0:
        return (
            f"debug: the process was ended by {signal.Signals(-status).name}; for the stack, add --tool "
            f"{Tool.STACK.value}"
        )
    if status == _COULD_NOT_PLAY:
        return "debug: the session could not be played; the reason is printed above"
    told = (
        "see the report of the sanitizer above"
        if debugged.runtimes
        else "the library ended the process, for example with exit()"
    )
    return f"debug: the process ended with status {status}: {told}"
