"""Implements `./dev new KIND NAME`: writes the files of a new benchmark, index, structure, board and so on.

The new files build without further edits, and no other file has to list them. No existing file changes.

The templates of a KIND are in tools/dev/templates/KIND. The name that the user gives replaces NAME in file names and
@NAME@ in texts; the same name in CamelCase replaces @CAMEL@. An index starts as a copy of api/examples/minimal.cc, and
a concurrency control as a copy of index_2pl. The templates of a board have further words between @ signs. board_words()
takes their replacements from the manifest of the benchmark by which the board ranks.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from dev.paths import ROOT
from dev.steps import StepError

TEMPLATES = Path(__file__).with_name("templates")
TARGETS = {
    "benchmark": "benchmarks/{name}",
    "index": "indexes/{name}",
    "structure": "structures/{name}",
    "configuration": "runtime/configurations",
    "concurrency-control": "runtime/concurrency",
    "board": "leaderboard/boards/{name}",
}
# Further files of a kind: source -> name in the new folder.
COPIES = {
    "index": {"api/examples/minimal.cc": "library.cc"},
    "concurrency-control": {"runtime/concurrency/index_2pl.cc": "NAME.cc"},
}
# The name that a copy contains, in snake_case and in CamelCase. The new name replaces both.
COPIED_NAMES = {"concurrency-control": ("index_2pl", "Index2pl")}
NAME = re.compile(r"[a-z][a-z0-9_]{1,30}")


def new(kind: str, name: str, instance: str | None = None) -> int:
    """Write the files of a new KIND called NAME; refuse to overwrite anything. A board ranks BENCHMARK/INSTANCE."""
    if kind not in TARGETS:
        raise StepError(f"there is no kind {kind!r}; the kinds are: {', '.join(TARGETS)}")
    if not NAME.fullmatch(name):
        raise StepError(
            f"{name!r} is not a valid name: use 2 to 31 lower-case letters, digits and _, beginning with a letter"
        )
    target = ROOT / TARGETS[kind].format(name=name)
    sources = {path.name.removesuffix(".in"): path for path in sorted((TEMPLATES / kind).glob("*"))}
    sources |= {to: ROOT / source for source, to in COPIES.get(kind, {}).items()}
    files = {target / to.replace("NAME", name): path for to, path in sources.items()}
    words = board_words(name, instance) if kind == "board" else {}
    if kind != "board" and instance is not None:
        raise StepError(
            f"only the kind board takes BENCHMARK/INSTANCE, not the kind {kind}: leave {instance!r} out"
        )
    existing = [path for path in files if path.exists()]
    if existing:
        raise StepError(
            f"{existing[0].relative_to(ROOT)} exists already: choose another name, or delete the file"
        )
    camel = "".join(word.capitalize() for word in name.split("_"))
    target.mkdir(parents=True, exist_ok=True)
    snake_word, camel_word = COPIED_NAMES.get(kind, ("@NAME@", "@CAMEL@"))
    for path, template in files.items():
        text = template.read_text().replace(snake_word, name).replace(camel_word, camel)
        for word, replacement in words.items():
            text = text.replace(word, replacement)
        path.write_text(text)
        print(f"wrote {path.relative_to(ROOT)}")
    print(f"next: read {how_to(kind)}")
    return 0


def board_words(name: str, instance: str | None) -> dict[str, str]:
    """Return what replaces the words of a board's template. Raises StepError if there is no such instance."""
    manifests = {
        path.parent.name: json.loads(path.read_text())
        for path in sorted((ROOT / "benchmarks").glob("*/benchmark.json"))
    }
    timed = [one for one, manifest in manifests.items() if manifest["kind"] == "performance"]
    if instance is None:
        raise StepError(
            "the instance on which the board ranks libraries is missing: write "
            f"`./dev new board {name} BENCHMARK/INSTANCE`, for example `./dev new board {name} ycsb/a`; "
            f"the benchmarks are: {', '.join(timed)}"
        )
    benchmark, _, chosen = instance.partition("/")
    if benchmark not in timed:
        raise StepError(
            f"{benchmark!r} is not a benchmark that measures speed; choose from: {', '.join(timed)}"
        )
    instances = manifests[benchmark]["instances"]
    if chosen not in instances:
        raise StepError(
            f"the benchmark {benchmark} has no instance {chosen!r}; choose one of: {', '.join(instances)}"
        )
    scales = list(instances[chosen]["scales"])
    metric = manifests[benchmark]["metric"]
    return {
        "@BENCHMARK@": benchmark,
        "@INSTANCE@": chosen,
        "@TITLE@": instances[chosen]["title"],
        "@FAMILY@": _family(benchmark),
        "@SCALE@": "laptop" if "laptop" in scales else scales[0],
        "@METRIC@": metric["name"],
        "@DIRECTION@": metric["direction"],
    }


def _family(benchmark: str) -> str:
    """Return the family (group of boards with similar workloads) of a benchmark's boards.

    If the benchmark has no board, return `operations`.
    """
    for path in sorted((ROOT / "leaderboard" / "boards").glob("*/board.json")):
        board: dict[str, str] = json.loads(path.read_text())
        if board["benchmark"] == benchmark:
            return board["family"]
    return "operations"


def how_to(kind: str) -> str:
    """Return the page that explains how to add a KIND."""
    return f"docs/how-to/add-{'an' if kind[0] in 'aeiou' else 'a'}-{kind}.md"
