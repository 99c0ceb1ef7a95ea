"""Finds comments, strings and classes in C and C++ sources, for the checks of tools/tree.

A scan for comments, strings, raw strings and braces is enough, without a parser, because clang-format formats all
sources.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = re.compile(
    r"""
    (?P<line>//[^\n]*)
  | (?P<block>/\*.*?\*/)
  | (?P<raw>R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)")
  | (?P<include>^[ \t]*\#[ \t]*include[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<char>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
CLASS = re.compile(
    r"^[ \t]*(?:template\s*<[^;{]*>\s*)?(?:class|struct)\s+"
    r"(?:\w+\([^)]*\)\s+)*(\w+)[^;{}()=]*\{",  # alignas(64) or an attribute macro before the name
    re.MULTILINE,
)


def without_comments(text: str) -> str:
    """Return the text with spaces in place of comments, strings, characters and includes; offsets do not change."""
    return TOKEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def classes(code: str) -> Iterator[tuple[str, int, int]]:
    """Yield the name, first and last line of each class and struct in code without comments."""
    for found in CLASS.finditer(code):
        depth, end = 1, found.end()
        while depth and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        first = code.count("\n", 0, found.start(1)) + 1
        yield found[1], first, code.count("\n", 0, end) + 1


def comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the first line's number and the text of each comment. Line comments on adjacent lines are one comment."""
    begin, parts, after = 0, [], -1
    for found in TOKEN.finditer(text):
        if found["line"] is None and found["block"] is None:
            continue
        line = text.count("\n", 0, found.start()) + 1
        if found["block"] is not None:
            if parts:
                yield begin, "\n".join(parts)
                parts = []
            yield (
                line,
                "\n".join(
                    part.strip().removeprefix("*") for part in found["block"][2:-2].splitlines()
                ),
            )
            continue
        own_line = not text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip()
        if parts and line == after and own_line:
            parts.append(found["line"][2:])
        else:
            if parts:
                yield begin, "\n".join(parts)
            begin, parts = line, [found["line"][2:]]
        after = line + 1
    if parts:
        yield begin, "\n".join(parts)


def strings(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the text of each string. Literals with only white space between them are one string."""
    begin, parts, after = 0, [], -1
    for found in TOKEN.finditer(text):
        literal = found["string"] or found["raw"]
        if literal is None:
            continue
        content = literal[1:-1] if found["string"] else literal.partition("(")[2].rpartition(")")[0]
        if parts and not text[after : found.start()].strip():
            parts.append(content)
        else:
            if parts:
                yield begin, "".join(parts)
            begin, parts = text.count("\n", 0, found.start()) + 1, [content]
        after = found.end()
    if parts:
        yield begin, "".join(parts)
