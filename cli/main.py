"""Judges, times and compares index libraries on this machine. No site is needed.

bench and check return 0 if the library passed, 1 if it did not pass, and 2 if it could not be judged. A library cannot
be judged, for example, if the arguments are wrong, if the file is not a usable library, or if the machine's jail is
weaker than --require demands. compare returns 1 if it excluded a library, score if it left out an instance, and machine
if a setting makes timings noisy. Every command returns 2 after an error, 130 after Ctrl-C, and 141 if the reader of its
output closed the pipe.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cli import commands
from cli.arguments import Parser
from cli.debug import Tool
from cli.input.libraries import DEFAULT_CONFIGURATION
from cli.input.request import DEFAULT_BENCHMARK
from cli.input.values import UsageError, gibibytes, percent, positive
from cli.output.system_error import with_remedy
from results.stats.family import MARGIN_RATIO
from runner.contract import Cancelled
from runner.inspection.trace_file import TRACE_BENCHMARK
from runner.manifest import RequestError
from runner.output_file import output_path
from runner.settings import SettingsError
from runner.slots import SlotsTakenError
from runner.strict import StrictError
from runner.terms import JailLevel, Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

_COULD_NOT_JUDGE = 2
_COMPARE_SESSIONS = 15
_LIBRARY_HELP = "a shared object, or the name of a library or structure that `keydrome list` prints"
# The exit statuses that shells use for these signals: 128 + SIGINT, and 128 + SIGPIPE.
_INTERRUPTED = 130
_PIPE_CLOSED = 141


class _Version(argparse.Action):
    """Prints the version. The module that knows it is slow to import, so only this option imports it."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version  # noqa: PLC0415

        print(f"keydrome {version('keydrome')}")
        parser.exit()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status."""
    try:
        options = command_parser().parse_args(arguments)
        status: int = options.run(options)
        sys.stdout.flush()  # makes a closed pipe raise here instead of when the interpreter ends
    except BrokenPipeError:
        return _pipe_closed()
    except (RequestError, SettingsError, SlotsTakenError, StrictError, UsageError) as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(with_remedy(error))
    except (Cancelled, KeyboardInterrupt):
        print(
            "keydrome: interrupted; every process that the command had started was stopped",
            file=sys.stderr,
        )
        return _INTERRUPTED
    return status


def _fail(message: str) -> int:
    print(f"keydrome: error: {message}", file=sys.stderr)
    return _COULD_NOT_JUDGE


def _pipe_closed() -> int:
    """Return the exit status for a closed pipe, as in `keydrome list | head`. A closed pipe is not an error."""
    # When the interpreter ends, it flushes standard output and would report the closed pipe again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _PIPE_CLOSED


def command_parser() -> argparse.ArgumentParser:
    """Return the parser of `keydrome` with all its commands."""
    parser = Parser(prog="keydrome", description=__doc__)
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show program's version number and exit"
    )
    added = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_bench(added.add_parser("bench", help="judge and time a library"))
    _add_check(added.add_parser("check", help="judge a library with the correctness benchmarks"))
    _add_compare(added.add_parser("compare", help="time several libraries against each other"))
    _add_debug(
        added.add_parser(
            "debug", help="play a session in a debugger or with a sanitizer: not judged, not jailed"
        )
    )
    _add_plot(added.add_parser("plot", help="draw the results of bench and compare"))
    _add_score(added.add_parser("score", help="combine results of compare into one score"))
    _add_convert_ycsb(
        added.add_parser("convert-ycsb", help="turn what YCSB prints into a recorded trace")
    )
    _add_replay(added.add_parser("replay", help="check the bundle of a run and play the run again"))
    inspecting = added.add_parser("inspect", help="read a library file without running it")
    inspecting.add_argument("library", metavar="LIB", help=_LIBRARY_HELP)
    _add_json(inspecting, "facts")
    inspecting.set_defaults(run=commands.run_inspect_file)
    _add_list(
        added.add_parser("list", help="list benchmarks, libraries, structures and configurations")
    )
    machine_facts = added.add_parser(
        "machine", help="show which settings of this machine make timings noisy"
    )
    _add_json(machine_facts, "facts")
    machine_facts.set_defaults(run=commands.run_machine)
    return parser


def _add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        metavar="WORD",
        nargs="*",
        help="list only what has every word in its name, title or description, for example ycsb",
    )
    _add_json(parser, "list")
    parser.set_defaults(run=commands.run_listing)


def _add_json(parser: argparse.ArgumentParser, what: str) -> None:
    help_text = f"write the {what} as JSON to FILE; if FILE is -, to standard output, and the text to standard error"
    parser.add_argument("--json", metavar="FILE", type=output_path, help=help_text)


def _add_markdown(parser: argparse.ArgumentParser, what: str) -> None:
    help_text = (
        f"write the {what} as Markdown to FILE, for a report; if FILE is -, to standard output"
    )
    parser.add_argument("--markdown", metavar="FILE", type=output_path, help=help_text)


def _add_common(parser: argparse.ArgumentParser, scale: Scale) -> None:
    _add_scale_and_seed(parser, scale)
    _add_json(parser, "result")
    _add_require(parser)


def _add_scale_and_seed(parser: argparse.ArgumentParser, scale: Scale) -> None:
    scales = [scale.value for scale in Scale]
    parser.add_argument(
        "--scale",
        choices=scales,
        default=scale.value,
        help="size of the workload: smoke takes a second, laptop minutes, paper is as published; default: %(default)s",
    )
    parser.add_argument(
        "--seed",
        metavar="S",
        help="seed of the first session: 16 hexadecimal digits as printed, or a number below 2^64; default: a random "
        "seed",
    )


def _add_require(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--require",
        choices=[level.value for level in JailLevel],
        default=JailLevel.FULL.value,
        help="weakest level of the jail (sandbox) to accept; default: full",
    )


def _add_library(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("library", metavar="LIB[:CONFIG]", help=_LIBRARY_HELP)
    parser.add_argument(
        "--config",
        metavar="FILE|NAME",
        help="for a structure (a data structure without transactions): the configuration to run it with; "
        f"`keydrome list` prints the names; default: {DEFAULT_CONFIGURATION}",
    )


def _add_workload(parser: argparse.ArgumentParser) -> None:
    _add_operations(parser)
    parser.add_argument(
        "--metric",
        metavar="M",
        help="compare by this metric, such as throughput_tps or memory_peak_bytes; default: the benchmark's own",
    )
    parser.add_argument(
        "--memory",
        metavar="GIB",
        type=gibibytes,
        help="memory limit of a library in GiB, such as 2 or 0.5; default: enough for the records of the instance",
    )


def _add_operations(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--benchmark",
        metavar="B",
        help="name of the benchmark to run; `keydrome list` prints the names; "
        f"default: {DEFAULT_BENCHMARK}, or {TRACE_BENCHMARK} with --trace",
    )
    parser.add_argument(
        "--instance",
        metavar="I",
        help="named set of parameters of the benchmark; default: the benchmark's first instance",
    )
    parser.add_argument("--threads", metavar="N", type=positive, help="same as -p threads=N")
    parser.add_argument(
        "-p",
        "--parameter",
        metavar="NAME=N",
        action="append",
        default=[],
        help="override one parameter of the instance; may be repeated",
    )
    parser.add_argument(
        "--keys",
        metavar="FILE",
        type=Path,
        help="replace the workload's keys with those of a file: 64-bit integers in SOSD's binary format, or lines of "
        "text",
    )
    parser.add_argument(
        "--trace",
        metavar="FILE",
        type=Path,
        help="play the recorded calls of a file in the format of docs/reference/trace-files.md",
    )
    parser.add_argument(
        "--plain", action="store_true", help="run the workload only, without checks"
    )


def _add_details(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--details",
        action="store_true",
        help="print every number and table, which takes more than one screen",
    )


def _add_bench(parser: argparse.ArgumentParser) -> None:
    _add_library(parser)
    _add_details(parser)
    _add_common(parser, Scale.SMOKE)
    _add_workload(parser)
    parser.add_argument(
        "--sessions",
        metavar="N",
        type=positive,
        default=3,
        help="number of sessions; each session has new processes and a different seed; default: 3",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="certify the history of each session, that is, prove that its transactions were isolated; judging takes "
        "longer",
    )
    parser.add_argument(
        "--counters",
        action="store_true",
        help="also count cycles, cache misses, context switches and more, if the machine supports it",
    )
    parser.add_argument(
        "--no-control",
        action="store_true",
        help="do not time the control library, a fixed library for comparison, in the sessions",
    )
    parser.add_argument(
        "--history",
        metavar="DIR",
        type=Path,
        help="write the recorded history of each failed session to DIR; the program `certify` can judge it again",
    )
    _add_all_histories(parser)
    parser.add_argument(
        "--at-capacity",
        action="store_true",
        help="first measure the highest throughput of the library, then time the library at fractions of this value; "
        "needs a benchmark with arrival rates, such as open_loop",
    )
    _add_verified(parser)
    parser.add_argument(
        "--audit",
        action="store_true",
        help="play each session also in verified mode, in which the library cannot see its next calls; compare the "
        "times to say whether the library may read these calls",
    )
    parser.set_defaults(run=commands.run_bench)


def _add_debug(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Play one session in a process that a debugger or a sanitizer can watch. NOT JUDGED, NOT JAILED: the library "
        "runs with all your rights. It may be built with -fsanitize=address or -fsanitize=thread "
        "(docs/how-to/debug-a-library.md). Exit status: 0 if every call returned, 1 if not, 2 after an error."
    )
    _add_library(parser)
    _add_scale_and_seed(parser, Scale.SMOKE)
    _add_operations(parser)
    parser.add_argument(
        "--tool",
        choices=[tool.value for tool in Tool],
        help="run the process in gdb or valgrind; stack runs it in gdb and prints all stacks after a crash; perf "
        "shows which functions take the time",
    )
    parser.set_defaults(run=commands.run_debug)


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "libraries",
        metavar="LIB[:CONFIG]",
        nargs="+",
        help="shared objects, or names that `keydrome list` prints; CONFIG is for a structure (a data structure "
        "without transactions): the configuration to run it with",
    )
    _add_common(parser, Scale.SMOKE)
    _add_details(parser)
    _add_markdown(parser, "tables and the conditions of the measurement")
    _add_workload(parser)
    parser.add_argument(
        "--config",
        metavar="FILE|NAME",
        action="append",
        default=[],
        help="configuration for structures given without :CONFIG; repeat the option to compare several configurations",
    )
    parser.add_argument(
        "--sessions",
        metavar="N",
        type=positive,
        default=_COMPARE_SESSIONS,
        help="number of blocks, not counting those that are discarded because of noise; a block runs each library "
        "once; default: %(default)s",
    )
    parser.add_argument(
        "--margin",
        metavar="PERCENT",
        type=percent,
        default=100 * (MARGIN_RATIO - 1),
        help="libraries count as equal if their results differ by less than PERCENT (0.1 to 100); if you publish the "
        "result, state this margin too; default: 3",
    )
    parser.add_argument(
        "--keep-same",
        action="store_true",
        help="compare identical files as well, to see the effect of noise alone",
    )
    parser.set_defaults(run=commands.run_compare)


def _add_plot(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "reports",
        metavar="REPORT",
        nargs="+",
        type=Path,
        help="a file that bench or compare wrote with --json",
    )
    parser.add_argument(
        "--metric",
        metavar="M",
        help="draw only this metric, such as memory_peak_bytes; default: latency and throughput",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=Path("plots"),
        help="folder for the plots; default: %(default)s",
    )
    parser.set_defaults(run=commands.run_plot)


def _add_score(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "reports",
        metavar="REPORT",
        nargs="+",
        type=Path,
        help="a file that compare wrote with --json; one file per instance",
    )
    _add_json(parser, "scores")
    _add_markdown(parser, "tables")
    parser.set_defaults(run=commands.run_score)


def _add_convert_ycsb(parser: argparse.ArgumentParser) -> None:
    parser.description = "Write the trace to standard output (docs/reference/trace-files.md)."
    parser.add_argument(
        "printed",
        metavar="RUN",
        type=Path,
        help="a file with what `ycsb run basic` has printed to standard output",
    )
    parser.add_argument(
        "--load",
        metavar="LOAD",
        type=Path,
        help="a file with what `ycsb load basic` has printed; these records are loaded before the clock starts",
    )
    parser.add_argument(
        "--threads",
        metavar="N",
        type=positive,
        default=1,
        help="number of threads; the operations of one key stay in order; default: %(default)s",
    )
    parser.set_defaults(run=commands.run_convert_ycsb)


def _add_replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "bundle",
        metavar="BUNDLE",
        type=Path,
        help="a ZIP file with the request, seeds and results of a run, from the page of the run on a Keydrome site",
    )
    parser.add_argument("library", metavar="LIB", help=f"the library of the run: {_LIBRARY_HELP}")
    parser.add_argument(
        "--key",
        metavar="HEX",
        type=str.lower,
        help="the public key of the site, from its page /bundle-key.txt; a bundle with another signature is refused",
    )
    _add_json(parser, "comparison")
    _add_require(parser)
    parser.set_defaults(run=commands.run_replay)


def _add_verified(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--verified",
        action="store_true",
        help="call the library from a process outside the jail, so that it cannot see its next calls; compare times "
        "only with those of other verified runs",
    )


def _add_all_histories(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--all-histories",
        action="store_true",
        help="also write the recorded histories of sessions that passed",
    )


def _add_check(parser: argparse.ArgumentParser) -> None:
    _add_library(parser)
    _add_verified(parser)
    _add_common(parser, Scale.LAPTOP)
    parser.add_argument(
        "--suite",
        metavar="S",
        action="append",
        default=[],
        help="run only this correctness benchmark; may be repeated",
    )
    parser.add_argument(
        "--seconds",
        metavar="N",
        type=positive,
        help="repeat the suites with further seeds for N seconds; default: run each suite once",
    )
    parser.add_argument(
        "--witness",
        metavar="DIR",
        type=Path,
        help="write the reports, witnesses (the calls that prove a violation) and recorded histories of failed "
        "sessions to DIR",
    )
    _add_all_histories(parser)
    parser.set_defaults(run=commands.run_check)
