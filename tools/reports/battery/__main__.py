"""Runs the battery, a list of attacks on machine and results: `python -m tools.reports.battery`, as root.

The program needs a build. It starts a temporary site, and uploads each library of tests/hostile/cases.json. The site's
worker, the process that takes runs from the queue, executes the library. The program compares each result with the
expected one. Exit status 1 means that a result was unexpected. `--only A01 C` selects cases and groups. `--fast`
selects the cases of `./dev test`. `--write` writes docs/reference/battery.md. The attacker's guide in
docs/explanation/security.md says how to add a case.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from runner.output_file import output_path, write_file
from runner.settings import load_settings
from runner.slots import hold_local_slot
from tools.reports.battery import cases, page
from tools.reports.made import made_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.reports.battery.cases import Case
    from tools.reports.battery.chain import Chain, Got


def main() -> int:
    """Run the selected cases; return 0 if all results were as expected."""
    options = _options()
    chosen = cases.load(options.only, fast=options.fast)
    with tempfile.TemporaryDirectory(prefix="keydrome-battery-") as folder:
        Path(folder).chmod(0o755)  # the jail's user reads the library there
        with _site(Path(folder)) as chain:
            rows, faults = _run(chain, chosen, options.state)
    _show(rows, faults)
    if options.write:
        page.PAGE.write_text(page.text(rows, made_line()))
    return 1 if faults or any(got.faults for _, got in rows) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="ID",
        help="only these cases or groups of cases, such as A01 or C",
    )
    parser.add_argument("--fast", action="store_true", help="run only the cases of ./dev test")
    parser.add_argument("--write", action="store_true", help="write docs/reference/battery.md")
    parser.add_argument(
        "--state",
        type=output_path,
        help="JSON file that keeps the results; a case whose result it contains is not run again",
    )
    return parser.parse_args()


@contextmanager
def _site(folder: Path) -> Iterator[Chain]:
    """Yield a site with an empty database, one account, and a slot: a number that gives a jail its own Linux user."""
    for name in [name for name in os.environ if name.startswith("KEYDROME_")]:
        if name != "KEYDROME_BUILD":
            del os.environ[name]
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "web.settings",
        "KEYDROME_VAR": str(folder / "var"),
        "KEYDROME_BOARD_SCALE": "smoke",
        "KEYDROME_LOG_LEVEL": "ERROR",
        "KEYDROME_SUBMISSIONS_PER_DAY": "100000",
    }
    os.environ.pop("DATABASE_URL", None)
    import django  # noqa: PLC0415 - after the environment is set

    django.setup()
    from django.contrib.auth.models import User  # noqa: PLC0415 - needs Django set up
    from django.core.management import call_command  # noqa: PLC0415 - as above

    from tools.reports.battery.chain import Chain  # noqa: PLC0415 - as above

    call_command("migrate", verbosity=0)
    settings = load_settings()
    if missing := settings.missing_binaries():
        raise SystemExit(
            f"these programs are not built: {', '.join(map(str, missing))}; run ./dev build"
        )
    with hold_local_slot() as slot:
        user = User.objects.create_user("mallory")
        yield Chain(user, replace(settings, slot=slot), folder)


def _run(
    chain: Chain, chosen: list[Case], state: Path | None
) -> tuple[list[tuple[Case, Got]], list[str]]:
    """Run all cases, and an honest library before and after them.

    Return each case with its result, and what went wrong with the honest library.
    """
    from tools.reports.battery.chain import Got  # noqa: PLC0415 - needs Django set up

    known = json.loads(state.read_text()) if state is not None and state.is_file() else {}
    rows: list[tuple[Case, Got]] = []
    faults = chain.honest_faults("before the first case")
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("battery", total=len(chosen))
        for case in chosen:
            progress.update(bar, description=f"{case.id} {case.title[:40]}")
            if case.id not in known:
                known[case.id] = asdict(Got("") if case.proof else chain.play(case))
            rows.append((case, Got(**known[case.id])))
            progress.advance(bar)
            if state is not None:
                write_file(state, json.dumps(known))
    return rows, faults + chain.honest_faults("after the last case")


def _show(rows: list[tuple[Case, Got]], faults: list[str]) -> None:
    """Print the table of all cases, then all differences from the expected results."""
    table = Table("case", "attack", "expected", "got", "time, s")
    for case, got in rows:
        expected = f"see {case.proof}" if case.proof else case.expected
        style = "red" if got.faults else ""
        table.add_row(
            case.id,
            case.title,
            expected,
            page.outcome(case, got),
            f"{got.seconds:.1f}",
            style=style,
        )
    console = Console()
    console.print(table)
    wrong = [(case, got) for case, got in rows if got.faults]
    for case, got in wrong:
        for fault in got.faults:
            console.print(f"{case.id}: {fault}", markup=False, highlight=False)
    for fault in faults:
        console.print(fault, markup=False)
    console.print(f"{len(rows)} cases, {len(wrong)} with an unexpected result")


if __name__ == "__main__":
    raise SystemExit(main())
