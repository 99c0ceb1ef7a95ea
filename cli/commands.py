"""Runs the commands of `keydrome`. Each function imports the module of its command only when the command runs.

Importing the modules of all commands would make every command start later.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def run_bench(options: argparse.Namespace) -> int:
    """Run `keydrome bench`."""
    from cli import bench

    return bench.run(options)


def run_check(options: argparse.Namespace) -> int:
    """Run `keydrome check`."""
    from cli import check

    return check.run(options)


def run_compare(options: argparse.Namespace) -> int:
    """Run `keydrome compare`."""
    from cli import compare

    return compare.run(options)


def run_convert_ycsb(options: argparse.Namespace) -> int:
    """Run `keydrome convert-ycsb`."""
    from cli import convert_ycsb

    return convert_ycsb.run(options)


def run_debug(options: argparse.Namespace) -> int:
    """Run `keydrome debug`."""
    from cli import debug

    return debug.run(options)


def run_inspect_file(options: argparse.Namespace) -> int:
    """Run `keydrome inspect`."""
    from cli import inspect_file

    return inspect_file.run(options)


def run_listing(options: argparse.Namespace) -> int:
    """Run `keydrome list`."""
    from cli import listing

    return listing.run(options)


def run_machine(options: argparse.Namespace) -> int:
    """Run `keydrome machine`."""
    from cli import machine

    return machine.run(options)


def run_plot(options: argparse.Namespace) -> int:
    """Run `keydrome plot`."""
    from cli import plot

    return plot.run(options)


def run_replay(options: argparse.Namespace) -> int:
    """Run `keydrome replay`."""
    from cli import replay

    return replay.run(options)


def run_score(options: argparse.Namespace) -> int:
    """Run `keydrome score`."""
    from cli import score

    return score.run(options)
