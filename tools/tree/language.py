"""Checks comments, docstrings, messages, pages and names of tests: no banned word, no sentence of more than 30 words.

words.toml lists the banned words, and a better word for each. CONTRIBUTING.md has further rules, which this program
does not check.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from tree.prose import PROSE, passages, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree.files import Tree

SENTENCE_WORDS_MAX = 30
WORDS = Path(__file__).with_name("words.toml")
# Folders and pages whose language is checked.
ENFORCED = (
    "api/",
    "checker/",
    "base/",
    "benchmarks/",
    "structures/",
    "runtime/",
    "indexes/",
    "harness/",
    "jail/",
    "runner/",
    "results/",
    "cli/",
    "leaderboard/",
    "web/",
    "tests/",
    "tools/",
    "docs/",
    "deploy/",
    ".github/",
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
)
# These pages are records of the past, and keep the words of their time.
HISTORY = ("CHANGELOG.md", "docs/decisions/")
# Titles of scenarios (scripted tests) become names of phases. The fingerprint of the benchmark, a hash of its generated
# operations, contains these names. A changed title would need a new version of the benchmark, so titles are not
# checked.
FROZEN = ("benchmarks/scenarios/data/",)
# The names of tests, which read like sentences: a Python function, or a test of googletest.
TEST_NAMES = {
    ".py": re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE),
    ".cc": re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*\w+,\s*(\w+)\)", re.MULTILINE),
}
# The parts of a name in snake_case or CamelCase.
WORD_OF_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
# Examples that the check must refuse.
EXAMPLES = ("tools/tree/words.toml", "tools/tests/test_check_tree.py")


def banned() -> list[tuple[re.Pattern[str], str]]:
    """Return each banned expression with the words to write instead."""
    return [
        (re.compile(rf"\b(?:{entry['find']})\b", re.IGNORECASE), entry["write"])
        for entry in tomllib.loads(WORDS.read_text())["banned"]
    ]


def check_language(tree: Tree, enforced: tuple[str, ...] = ENFORCED) -> list[str]:
    """Return the banned words and long sentences in the folders that are enforced."""
    words = banned()
    complaints = []
    for name in tree.having(*PROSE):
        if name.startswith(enforced) and not name.startswith((*HISTORY, *FROZEN, *EXAMPLES)):
            text = tree.text(name)
            for line, passage in (*passages(name, text), *_test_names(name, text)):
                complaints += [f"{name}:{line}: {found}" for found in _complaints(passage, words)]
    return complaints


def _test_names(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the words of each test's name in a file."""
    expression = TEST_NAMES.get(Path(name).suffix)
    for found in expression.finditer(text) if expression else ():
        yield (
            text.count("\n", 0, found.start(1)) + 1,
            " ".join(WORD_OF_NAME.findall(found[1])).lower(),
        )


def _complaints(passage: str, words: list[tuple[re.Pattern[str], str]]) -> list[str]:
    found = []
    plain = re.sub(r"`[^`]*`", "", passage)
    for expression, better in words:
        matches = expression.finditer(plain)
        found += [f'"{match[0]}" is a banned word: write {better}' for match in matches]
    for sentence in sentences(passage):
        count = len(re.findall(r"[A-Za-z][\w'-]*", sentence))
        if count > SENTENCE_WORDS_MAX:
            found.append(
                f"this sentence has {count} words, but at most {SENTENCE_WORDS_MAX} are allowed; split it: "
                f"{sentence[:60]} ..."
            )
    return found
