"""Implements `./dev tables`: writes the tables of Markdown pages from the manifests (benchmark.json, index.json, ...).

So a new benchmark or index appears on these pages without an edit by hand. Concurrency controls have no manifests, so
their table comes from the opening comments of their sources. In a page, a table is between the lines
`<!-- table NAME: written by ./dev tables -->` and `<!-- end of table -->`. A test fails if a table is out of date.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from dev.paths import ROOT
from dev.steps import StepError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TABLE = re.compile(
    r"(<!-- table (\w+): written by \./dev tables -->\n).*?(<!-- end of table -->)", re.DOTALL
)
# The pages that contain generated tables.
PAGES = (
    "benchmarks/README.md",
    "docs/reference/benchmarks.md",
    "indexes/README.md",
    "structures/README.md",
    "docs/explanation/sources.md",
    "docs/reference/configuration.md",
)


def write() -> int:
    """Rewrite every page whose tables differ from the manifests; return 0."""
    for page, text in _rewritten(ROOT).items():
        (ROOT / page).write_text(text)
        print(f"wrote {page}")
    return 0


def stale(root: Path) -> list[str]:
    """Return the pages whose tables differ from the manifests."""
    return list(_rewritten(root))


def _rewritten(root: Path) -> dict[str, str]:
    texts = {page: (root / page).read_text() for page in PAGES}
    made = {
        page: TABLE.sub(lambda found: found[1] + _table(root, found[2]) + found[3], text)
        for page, text in texts.items()
    }
    return {page: text for page, text in made.items() if text != texts[page]}


def _table(root: Path, name: str) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in TABLES[name](root)) + "\n"


def _manifests(root: Path, pattern: str) -> list[dict[str, Any]]:
    paths = (path for path in sorted(root.glob(pattern)) if ".schema" not in path.suffixes)
    return [json.loads(path.read_text()) for path in paths]


def _benchmarks(root: Path) -> list[list[str]]:
    """Return the table of docs/reference/benchmarks.md: every benchmark with its description."""
    rows = [["benchmark", "kind", "what it measures"], ["---"] * 3]
    for benchmark in _manifests(root, "benchmarks/*/benchmark.json"):
        link = f"[{benchmark['name']} {benchmark['version']}](../../benchmarks/{benchmark['name']}/README.md)"
        rows.append([link, benchmark["kind"], benchmark["description"]])
    return rows


def _instances(root: Path) -> list[list[str]]:
    """Return the table of benchmarks/README.md: every benchmark with its instances."""
    rows = [["folder", "kind", "title", "instances"], ["---"] * 4]
    for benchmark in _manifests(root, "benchmarks/*/benchmark.json"):
        name = benchmark["name"]
        instances = ", ".join(f"`{instance}`" for instance in benchmark["instances"])
        rows.append(
            [f"[{name}]({name}/README.md)", benchmark["kind"], benchmark["title"], instances]
        )
    return rows


def _sources(root: Path) -> list[list[str]]:
    """Return the table of docs/explanation/sources.md: every benchmark with the paper that it follows."""
    rows = [["benchmark", "source"], ["---"] * 2]
    for benchmark in _manifests(root, "benchmarks/*/benchmark.json"):
        rows.append([benchmark["name"], benchmark["source"]])
    return rows


def _indexes(root: Path) -> list[list[str]]:
    rows = [["folder", "what it is"], ["---"] * 2]
    for index in _manifests(root, "indexes/*/index.json"):
        rows.append([f"[{index['name']}]({index['name']}/README.md)", index["description"]])
    return rows


def _structures(root: Path) -> list[list[str]]:
    rows = [["folder", "what it is", "source"], ["---"] * 3]
    for structure in _manifests(root, "structures/*/structure.json"):
        link = f"[{structure['name']}]({structure['name']}/README.md)"
        rows.append([link, structure["description"], structure["source"]])
    return rows


def _configurations(root: Path) -> list[list[str]]:
    rows = [["configuration", "concurrency control", "lock", "what it does"], ["---"] * 4]
    for configuration in _manifests(root, "runtime/configurations/*.json"):
        words = [f"`{configuration[field]}`" for field in ("name", "concurrency", "lock")]
        rows.append([*words, configuration["description"]])
    return rows


def _concurrency_controls(root: Path) -> list[list[str]]:
    """Return the table of concurrency controls. A source begins with "Implements ...: ", followed by its row's text."""
    rows = [["concurrency control", "what it is"], ["---"] * 2]
    for source in sorted(root.glob("runtime/concurrency/*.cc")):
        opening = re.match(r"(?://.*\n)+", source.read_text())
        words = re.sub(r"\s*//\s*", " ", opening[0]) if opening else ""
        found = re.search(r"Implements [^:]+: (.+?\.)(?:\s|$)", words)
        if not found:
            raise StepError(
                f"{source.relative_to(root)}: the table in docs/reference/configuration.md needs one sentence about "
                "this concurrency control: begin the first comment of the file with "
                f'`Implements the concurrency control "{source.stem}": SENTENCE.`'
            )
        rows.append([f"`{source.stem}`", found[1][0].upper() + found[1][1:]])
    return rows


TABLES: dict[str, Callable[[Path], list[list[str]]]] = {
    "benchmarks": _benchmarks,
    "concurrency_controls": _concurrency_controls,
    "configurations": _configurations,
    "indexes": _indexes,
    "instances": _instances,
    "sources": _sources,
    "structures": _structures,
}
