"""Parses the command line of `./dev` and calls the module that implements the command."""

from __future__ import annotations

import argparse
import sys

from dev import lint, scaffold, services, setup, soak, speed, tables, testing, up
from dev.alone import alone_in_clone
from dev.paths import RUN
from dev.steps import StepError, become_root


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev", description="Keydrome's command for developers.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser(
        "up",
        help="set up everything, start the site (its port: KEYDROME_PORT, 8000 or the next free one), "
        "run the reference libraries and show the leaderboards",
    )
    commands.add_parser("down", help="stop what `up` started")
    commands.add_parser(
        "build", help="install packages and the Python environment, then build the preset `release`"
    )
    test = commands.add_parser("test", help="install what the tests need, and run every suite once")
    test.add_argument("--fast", action="store_true", help="run only lint and unit tests")
    test.add_argument(
        "--only",
        metavar="SUITE",
        action="append",
        help="run only this suite; give the option once for each suite",
    )
    commands.add_parser("soak", help="run the long versions of the suites, for some hours")
    bench = commands.add_parser("bench", help="measure the figures of docs/reference/figures.md")
    bench.add_argument(
        "--only",
        metavar="SECTION",
        action="append",
        default=[],
        help="measure only this section, and replace it on the page; give the option once for each section: "
        f"{', '.join(speed.PROGRAMS)}",
    )
    commands.add_parser("lint", help="run every linter, formatter check and dependency check")
    commands.add_parser("format", help="format C, C++ and Python in place")
    commands.add_parser(
        "tables", help="write the tables in README files and docs from the benchmarks' manifests"
    )
    new = commands.add_parser(
        "new",
        help="write the first files of a benchmark, index, structure, configuration, concurrency-control or board",
    )
    new.add_argument("kind", metavar="KIND", help=f"one of: {', '.join(scaffold.TARGETS)}")
    new.add_argument(
        "name",
        metavar="NAME",
        help="name of what this command adds: 2 to 31 lower-case letters, digits and _, beginning with a letter",
    )
    new.add_argument(
        "instance",
        metavar="BENCHMARK/INSTANCE",
        nargs="?",
        help="the instance on which a new board ranks libraries, such as ycsb/a; required for a board, refused for "
        "other kinds",
    )
    return parser


def _dispatch(arguments: argparse.Namespace) -> int:  # noqa: PLR0911 - one return per command
    match arguments.command:
        case "up":
            return up.up()
        case "down":
            print("stopped the site" if services.stop() else "no site of this clone was running")
            return 0
        case "build":
            return setup.set_up_build()
        case "test" | "soak" | "bench":
            become_root()
            with alone_in_clone(
                RUN / "tests.lock", "another ./dev test, soak or bench of this clone"
            ):
                return _test_or_measure(arguments)
        case "lint":
            return lint.lint()
        case "format":
            return lint.format_all()
        case "tables":
            return tables.write()
        case _:
            return scaffold.new(arguments.kind, arguments.name, arguments.instance)


def _test_or_measure(arguments: argparse.Namespace) -> int:
    match arguments.command:
        case "test":
            return testing.test(fast=arguments.fast, only=arguments.only)
        case "soak":
            return soak.soak()
        case _:
            return speed.bench(arguments.only)


def main() -> int:
    """Run one command; errors that the user can fix are shown without a stack trace."""
    arguments = _parser().parse_args()
    try:
        return _dispatch(arguments)
    except StepError as error:
        print(f"\n./dev {arguments.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; to continue, run the same command again", file=sys.stderr)
        return 130
