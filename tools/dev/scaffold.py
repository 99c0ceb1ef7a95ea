"""Implements `./dev new KIND NAME`: writes the files of a new benchmark, index, structure, board and so on.

The new files build without further edits, and no other file has to list them. No existing file changes.

The templates of a KIND are in tools/dev/templates/KIND. The name that the user gives replaces NAME in file names and
@NAME@ in texts; the same name in CamelCase replaces @CAMEL@. An index starts as a copy of api/examples/minimal.cc, and
a concurrency control as a copy of index_2pl.
"""

from __future__ import annotations

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
# Words in these copies that the new name replaces, and the same words in CamelCase.
COPIED_NAMES = {"concurrency-control": ("index_2pl", "Index2pl")}
NAME = re.compile(r"[a-z][a-z0-9_]{1,30}")


def new(kind: str, name: str) -> int:
    """Write the files of a new KIND called NAME; refuse to overwrite anything."""
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
        path.write_text(text)
        print(f"wrote {path.relative_to(ROOT)}")
    print(f"next: {how_to(kind)}")
    return 0


def how_to(kind: str) -> str:
    """Return the page that explains how to add a KIND."""
    return f"docs/how-to/add-{'an' if kind[0] in 'aeiou' else 'a'}-{kind}.md"
