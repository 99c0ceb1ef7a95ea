"""Lists the generated pages that are older than the code that they measure: `python -m tools.reports.stale`.

Some pages of docs/reference contain measurements. Each of these pages names the commit at which it was made
(tools/reports/made.py). For each page this program lists the measured paths that have changed since that commit, with
the number of commits. Tests and Markdown do not count. The program also prints the command that makes each old page
again. People must decide whether a change can alter the figures. Therefore the exit status is 0 even if pages are old.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tools.reports.gate_run import ROOT
from tools.reports.made import read_made

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REFERENCE = ROOT / "docs" / "reference"
_SESSION = ("benchmarks", "harness", "jail", "indexes", "structures", "runtime")
_GATE = (
    "benchmarks/kit", "benchmarks/unit", "benchmarks/phantom", "benchmarks/differential",
    "benchmarks/scenarios", "benchmarks/isolation", "checker", "harness", "jail",
)  # fmt: skip
# The generated pages, with the paths that they measure.
MEASURES: dict[str, tuple[str, ...]] = {
    "battery.md": ("tests/hostile", "jail", "harness", "runner", "leaderboard"),
    "certified.md": (
        "benchmarks/kit", "benchmarks/isolation", "checker", "harness", "indexes", "structures", "runtime",
    ),
    "fault-storm.md": ("leaderboard", "web", "runner", "tools/reports/fault_storm"),
    "figures.md": (*_SESSION, "checker", "runner", "leaderboard", "web", "tools/bench"),
    "gate-time.md": (*_GATE, "runner", "cli/check.py", "tests/faulty"),
    "jail-backends.md": ("jail", "tools/guest"),
    "kill-matrix.md": (*_GATE, "tests/faulty"),
    "laptop-scale.md": _SESSION,
    "paper-scale.md": _SESSION,
    "papers.md": (*_SESSION, "tools/reports/papers"),
    "power.md": (*_SESSION, "results/stats", "runner/blocks.py", "runner/drift.py"),
    "structure-profile.md": ("structures", "api", "tools/reports/structure_profile.py"),
    "structures.md": (
        "structures", "api", "tools/reports/structures.py", "tools/reports/structure_plots.py",
    ),
    "timed-share.md": (*_SESSION, "runner"),
}  # fmt: skip
# The commands that make pages. The command of any other page follows from the page's name.
_COMMANDS = {
    "figures.md": "./dev bench",
    "jail-backends.md": "python -m tools.guest --write",
    "paper-scale.md": "python -m tools.paper_scale --write",
}


def main() -> int:
    """Print one paragraph for each page; return 0."""
    old = 0
    for name, paths in MEASURES.items():
        lines = list(changes(REFERENCE / name, paths))
        old += bool(lines)
        remedy = [f"  to make the page again: {command(name)}"] if lines else []
        sys.stdout.write("\n".join([f"{name}: {_when(REFERENCE / name)}", *lines, *remedy, ""]))
    sys.stdout.write(
        f"{old} of {len(MEASURES)} pages in docs/reference are missing or older than the code that they measure\n"
    )
    return 0


def command(name: str) -> str:
    """Return the command that makes a page."""
    module = name.removesuffix(".md").replace("-", "_")
    return _COMMANDS.get(name, f"python -m tools.reports.{module} --write")


def changes(page: Path, paths: tuple[str, ...]) -> Iterator[str]:
    """Yield one line for each path that has changed since the page was made, or the reason why this is not known."""
    if not page.is_file():
        yield f"  the page {page.name} is missing"
        return
    made = read_made(page.read_text(encoding="utf-8"))
    if made is None:
        yield f"  the page {page.name} does not say at which commit it was made"
        return
    unknown = [one for one in made.commits if not _is_known(one)]
    if unknown:
        yield (
            f"  this clone does not have commit {', '.join(unknown)}, at which the page was made, so the number of "
            "later commits is unknown"
        )
        return
    for path in paths:
        count = max(_commits_since(one, path) for one in made.commits)
        if count:
            yield f"  {path}: {count} commit{'s' if count > 1 else ''} since"


def _when(page: Path) -> str:
    if not page.is_file():
        return "not made yet"
    made = read_made(page.read_text(encoding="utf-8"))
    if made is None:
        return "of unknown age"
    commits = "commits" if len(made.commits) > 1 else "commit"
    return f"made at {commits} {', '.join(made.commits)} on {made.day}"


def _is_known(commit: str) -> bool:
    return _git("cat-file", "-e", f"{commit}^{{commit}}").returncode == 0


def _commits_since(commit: str, path: str) -> int:
    """Return how many later commits changed the path. Changes of tests and Markdown do not count."""
    sources = [path, ":(exclude,glob)**/tests/**", ":(exclude,glob)**/*.md"]
    if path.startswith("tests/"):
        sources = [path, ":(exclude,glob)**/*.md"]
    return int(_git("rev-list", "--count", f"{commit}..HEAD", "--", *sources).stdout)


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True, timeout=60
    )


if __name__ == "__main__":
    sys.exit(main())
