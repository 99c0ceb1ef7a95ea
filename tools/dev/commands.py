"""The command line of ./dev."""

from __future__ import annotations

import argparse
import sys

from dev import lint, scaffold, services, setup, soak, speed, testing, up
from dev.steps import StepError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev", description="Keydrome's command for developers.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("up", help="set up everything, start the site, fill and show the board")
    commands.add_parser("down", help="stop what `up` started")
    commands.add_parser("build", help="packages, Python environment and the release build")
    test = commands.add_parser("test", help="set up for tests and run every suite once")
    test.add_argument("--fast", action="store_true", help="lint and unit tests only")
    test.add_argument(
        "--only", metavar="SUITE", action="append", help="only this suite; repeatable"
    )
    commands.add_parser("soak", help="the long versions of the suites")
    commands.add_parser(
        "bench", help="the speed figures: harness cost, jail, road, pages, btree against berkeley"
    )
    commands.add_parser("bench-harness", help="what the harness costs beside its floor, alone")
    commands.add_parser("lint", help="every linter, formatter check and layer check")
    commands.add_parser("format", help="format C, C++, Python and templates in place")
    new = commands.add_parser(
        "new", help="scaffold a benchmark, index, structure, configuration or board"
    )
    new.add_argument("kind", metavar="KIND")
    new.add_argument("name", metavar="NAME")
    return parser


def _dispatch(arguments: argparse.Namespace) -> int:  # noqa: PLR0911 - one return per command
    match arguments.command:
        case "up":
            return up.up()
        case "down":
            print("stopped" if services.stop() else "nothing was running")
            return 0
        case "build":
            return setup.set_up_build()
        case "test":
            return testing.test(fast=arguments.fast, only=arguments.only)
        case "soak":
            return soak.soak()
        case "bench":
            return speed.bench()
        case "bench-harness":
            return speed.bench_harness()
        case "lint":
            return lint.lint()
        case "format":
            return lint.format_all()
        case _:
            return scaffold.new(arguments.kind, arguments.name)


def main() -> int:
    """Run one command; errors that the user can mend are shown without a stack trace."""
    arguments = _parser().parse_args()
    try:
        return _dispatch(arguments)
    except StepError as error:
        print(f"\n./dev {arguments.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on where it stopped", file=sys.stderr)
        return 130
