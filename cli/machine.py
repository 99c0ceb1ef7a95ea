"""Implements `keydrome machine`: prints which settings of this machine make timings noisy, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from cli.machine_noise import settings_of
from cli.output.files import stream_for_people, write_json
from cli.output.table import console
from results.counts import counted
from runner.machine import machine_facts

if TYPE_CHECKING:
    import argparse

MACHINE_SCHEMA = "keydrome.machine.v1"
_WORDS = {True: "fine", False: "noisy", None: "unknown"}


def run(options: argparse.Namespace) -> int:
    """Run the command; return 1 if a setting is known to make timings noisy, else 0."""
    facts = machine_facts()
    settings = settings_of()
    stream = stream_for_people(options.json)
    print(f"{facts['class']}, {facts['system']}, kernel {facts['kernel']}", file=stream)
    table = Table("setting", "found", "", "what to do", box=None, padding=(0, 2, 0, 0))
    for setting in settings:
        remedy = setting.remedy if setting.fit is False else ""
        table.add_row(setting.name, setting.found, _WORDS[setting.fit], remedy)
    console(stream).print(table)
    noisy = sum(setting.fit is False for setting in settings)
    unknown = sum(setting.fit is None for setting in settings)
    hint = ' (see "what to do")' if noisy else ""
    print(
        f"{counted(len(settings) - noisy - unknown, 'setting is', 'settings are')} fine, "
        f"{counted(noisy, 'makes', 'make')} timings noisy{hint}, "
        f"{counted(unknown, 'is', 'are')} unknown",
        file=stream,
    )
    if options.json is not None:
        report = {
            "schema": MACHINE_SCHEMA,
            "machine": facts,
            "settings": [setting.to_json() for setting in settings],
        }
        write_json(options.json, report)
    return 1 if noisy else 0
