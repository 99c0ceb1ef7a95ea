"""`keydrome machine`: is this machine fit to measure on, and what to do where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from runner.cli_common import write_json
from runner.cli_table import console
from runner.machine import machine_facts
from runner.tuning import settings_of

if TYPE_CHECKING:
    import argparse

_WORDS = {True: "fit", False: "noisy", None: "unknown"}


def run(options: argparse.Namespace) -> int:
    """Run the command; 0 when nothing is known to make numbers noisy, 1 otherwise."""
    facts = machine_facts()
    settings = settings_of()
    if options.json is not None:
        report = {"machine": facts, "settings": [setting.to_json() for setting in settings]}
        write_json(options.json, report)
    print(f"{facts['class']}, {facts['system']}, kernel {facts['kernel']}")
    table = Table("setting", "found", "", "what to do", box=None, padding=(0, 2, 0, 0))
    for setting in settings:
        remedy = setting.remedy if setting.fit is False else ""
        table.add_row(setting.name, setting.found, _WORDS[setting.fit], remedy)
    console().print(table)
    noisy = sum(setting.fit is False for setting in settings)
    unknown = sum(setting.fit is None for setting in settings)
    print(f"{len(settings) - noisy - unknown} fit, {noisy} noisy, {unknown} unknown")
    return 1 if noisy else 0
