"""`./dev new KIND NAME`: a folder (or file) that builds, is discovered and can be filled in. It touches nothing else.

Templates are the folders of tools/dev/templates/KIND: NAME in file names and @NAME@, @CAMEL@ in texts become the
given name. An index starts as a copy of the example that contestants copy.
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
    "board": "leaderboard/boards/{name}",
}
# Further files of a kind: where they come from -> what they are called.
COPIES = {"index": {"api/examples/minimal.cc": "library.cc"}}
NAME = re.compile(r"[a-z][a-z0-9_]{1,30}")


def new(kind: str, name: str) -> int:
    """Write the files of a new KIND called NAME; refuse to overwrite anything."""
    if kind not in TARGETS:
        raise StepError(f"no kind {kind!r}; there are: {', '.join(TARGETS)}")
    if not NAME.fullmatch(name):
        raise StepError(
            f"{name!r} is no name: lower-case letters, digits and _, 2 to 31 characters"
        )
    target = ROOT / TARGETS[kind].format(name=name)
    files = {
        target / path.name.replace("NAME", name).removesuffix(".in"): path
        for path in sorted((TEMPLATES / kind).iterdir())
    }
    files |= {target / to: ROOT / source for source, to in COPIES.get(kind, {}).items()}
    existing = [path for path in files if path.exists()]
    if existing:
        raise StepError(f"{existing[0].relative_to(ROOT)} exists already")
    camel = "".join(word.capitalize() for word in name.split("_"))
    target.mkdir(parents=True, exist_ok=True)
    for path, template in files.items():
        text = template.read_text().replace("@NAME@", name).replace("@CAMEL@", camel)
        path.write_text(text)
        print(f"wrote {path.relative_to(ROOT)}")
    print(f"next: docs/how-to/add-a-{kind}.md")
    return 0
