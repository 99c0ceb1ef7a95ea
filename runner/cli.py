"""`keydrome`: judge, time and compare libraries on this machine, without a site.

Exit status: 0 the library passed, 1 it did not, 2 it could not be judged (wrong arguments, not a usable library,
a machine that gives less than a run requires).
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from runner import (
    cli_bench,
    cli_check,
    cli_compare,
    cli_inspect,
    cli_list,
    cli_machine,
    cli_plot,
)
from runner.cli_common import UsageError, positive
from runner.contract import Cancelled, JailLevel, Scale
from runner.manifest import RequestError
from runner.settings import SettingsError
from runner.slots import SlotsTakenError
from runner.strict import StrictError

if TYPE_CHECKING:
    from collections.abc import Sequence

_COULD_NOT_JUDGE = 2
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except (RequestError, SettingsError, SlotsTakenError, StrictError, UsageError) as error:
        return _fail(str(error))
    except PermissionError as error:
        return _fail(f"{error}: use sudo, or set KEYDROME_VAR to a folder that you may write to")
    except OSError as error:
        return _fail(str(error))
    except (Cancelled, KeyboardInterrupt):
        print("keydrome: interrupted; everything that ran is stopped", file=sys.stderr)
        return _INTERRUPTED
    return status


def _fail(message: str) -> int:
    print(f"keydrome: error: {message}", file=sys.stderr)
    return _COULD_NOT_JUDGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="keydrome", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_bench(commands.add_parser("bench", help="judge and time a library", allow_abbrev=False))
    _add_check(commands.add_parser("check", help="is a library right?", allow_abbrev=False))
    _add_compare(
        commands.add_parser("compare", help="who is faster than whom?", allow_abbrev=False)
    )
    _add_plot(commands.add_parser("plot", help="draw results", allow_abbrev=False))
    inspect = commands.add_parser("inspect", help="look at a library without running it")
    inspect.add_argument("library", metavar="LIB", type=Path, help="a shared object")
    inspect.add_argument("--json", metavar="FILE", type=Path, help="write the facts as JSON")
    inspect.set_defaults(run=cli_inspect.run)
    listing = commands.add_parser("list", help="benchmarks, libraries, structures, configurations")
    listing.set_defaults(run=cli_list.run)
    machine = commands.add_parser("machine", help="is this machine fit to measure on?")
    machine.add_argument("--json", metavar="FILE", type=Path, help="write the facts as JSON")
    machine.set_defaults(run=cli_machine.run)
    return parser


def _add_common(parser: argparse.ArgumentParser, scale: Scale) -> None:
    scales = [scale.value for scale in Scale]
    parser.add_argument("--scale", choices=scales, default=scale.value, help="default: %(default)s")
    parser.add_argument(
        "--seed",
        metavar="S",
        help="seed of the first session: 16 hexadecimal digits as printed, or a number; default: drawn",
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the result as JSON")
    parser.add_argument(
        "--require",
        choices=[level.value for level in JailLevel],
        default=JailLevel.FULL.value,
        help="lowest jail level to accept; default: full",
    )


def _add_library(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("library", metavar="LIB", type=Path, help="a shared object")
    parser.add_argument(
        "--config", metavar="FILE|NAME", help="configuration for a bare structure (see list)"
    )


def _add_workload(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--benchmark", metavar="B", default=cli_bench.DEFAULT_BENCHMARK)
    parser.add_argument("--instance", metavar="I", help="default: the benchmark's first")
    parser.add_argument("--threads", metavar="N", type=positive, help="same as -p threads=N")
    parser.add_argument(
        "-p",
        "--parameter",
        metavar="NAME=N",
        action="append",
        default=[],
        help="override a parameter of the instance; repeatable",
    )
    parser.add_argument("--plain", action="store_true", help="the stream only, without checks")


def _add_bench(parser: argparse.ArgumentParser) -> None:
    _add_library(parser)
    _add_common(parser, Scale.SMOKE)
    _add_workload(parser)
    parser.add_argument(
        "--sessions", metavar="N", type=positive, default=3, help="fresh processes; default: 3"
    )
    parser.add_argument(
        "--record", action="store_true", help="note every call and certify the history; slower"
    )
    parser.add_argument(
        "--counters",
        action="store_true",
        help="cycles, cache misses, context switches and such, where the machine counts them",
    )
    parser.add_argument(
        "--no-control", action="store_true", help="do not run the control library beside it"
    )
    parser.add_argument(
        "--history",
        metavar="DIR",
        type=Path,
        help="keep the recorded history of what was found wrong there, for the program certify",
    )
    _add_all_histories(parser)
    parser.add_argument(
        "--at-capacity",
        action="store_true",
        help="arrivals as shares of what the library delivers at most, which is measured first (open_loop)",
    )
    _add_verified(parser)
    parser.set_defaults(run=cli_bench.run)


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "libraries",
        metavar="LIB[:CONFIG]",
        nargs="+",
        help="shared objects; a bare structure with the configuration to run it under",
    )
    _add_common(parser, Scale.SMOKE)
    _add_workload(parser)
    parser.add_argument(
        "--config",
        metavar="FILE|NAME",
        action="append",
        default=[],
        help="configuration for every structure that names none; repeatable",
    )
    parser.add_argument(
        "--sessions",
        metavar="N",
        type=positive,
        default=cli_compare.DEFAULT_SESSIONS,
        help="blocks that count; default: %(default)s",
    )
    parser.add_argument(
        "--keep-same",
        action="store_true",
        help="compare equal files as well: what noise alone does",
    )
    parser.set_defaults(run=cli_compare.run)


def _add_plot(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "reports",
        metavar="REPORT",
        nargs="+",
        type=Path,
        help="what bench or compare wrote with --json",
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("plots"), help="default: %(default)s"
    )
    parser.set_defaults(run=cli_plot.run)


def _add_verified(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--verified",
        action="store_true",
        help="drive the library from outside of its process; its times then compare only with each other",
    )


def _add_all_histories(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--all-histories",
        action="store_true",
        help="keep every recorded history there, also those in which nothing was wrong",
    )


def _add_check(parser: argparse.ArgumentParser) -> None:
    _add_library(parser)
    _add_verified(parser)
    _add_common(parser, Scale.LAPTOP)
    parser.add_argument(
        "--suite", metavar="S", action="append", default=[], help="only this suite; repeatable"
    )
    parser.add_argument(
        "--seconds",
        metavar="N",
        type=positive,
        help="repeat with further seeds for N seconds; default: once",
    )
    parser.add_argument(
        "--witness",
        metavar="DIR",
        type=Path,
        help="keep the reports, witnesses and recorded histories of failed sessions there",
    )
    _add_all_histories(parser)
    parser.set_defaults(run=cli_check.run)


if __name__ == "__main__":
    # A closed pipe (keydrome list | head) is the reader's wish, not an error.
    try:
        sys.exit(main())
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
