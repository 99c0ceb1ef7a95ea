"""Finds the text for people in a file, and splits it into sentences, for the checks of tools/tree.

Text for people is comments, docstrings, messages, Markdown and the texts of templates.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import TYPE_CHECKING

from tree import native

if TYPE_CHECKING:
    from collections.abc import Iterator

NATIVE = (".c", ".cc", ".h")
TEMPLATES = (".html", ".txt")
# Files whose comments begin with # or --.
HASHED = ("CMakeLists.txt", ".cmake", ".yml", ".toml", ".Dockerfile", ".sql", ".clang-tidy")
PROSE = (*NATIVE, ".py", ".md", ".json", *HASHED, *TEMPLATES)
# A string counts as text for people if it has at least this many words. Shorter ones are names, formats and options.
WORDS_IN_PROSE = 3
# Strings that are programs: scripts, XML, SQL and C.
PROGRAM = re.compile(r"^\s*(#!|<|SELECT\b|INSERT\b|UPDATE\b|WITH\b)|\)\s*\{|;\s*\}")


def passages(name: str, text: str, *, with_strings: bool = True) -> Iterator[tuple[int, str]]:
    """Yield every passage of a file that is text for people: the number of its first line, and its text."""
    if name.endswith(NATIVE):
        yield from native.comments(text)
        if with_strings:
            for line, literal in native.strings(text):
                if _is_prose(literal):
                    yield (
                        line,
                        literal.replace("\\n", "\n\n"),
                    )  # each line of output ends a sentence
    elif name.endswith(".py"):
        yield from _python(text, with_strings=with_strings)
    elif name.endswith(".md"):
        yield from _markdown(text)
    elif name.endswith(".json"):
        for found in re.finditer(r'"(?:description|title|note)":\s*"((?:\\.|[^"\\])*)"', text):
            yield text.count("\n", 0, found.start()) + 1, found[1]
    elif name.endswith(HASHED):
        for found in re.finditer(r"(?:^[ \t]*(?:#|--)[^\n]*\n)+", text, re.MULTILINE):
            words = re.sub(r"^[ \t]*(#|--)", "", found[0], flags=re.MULTILINE)
            yield text.count("\n", 0, found.start()) + 1, words
    elif name.endswith(TEMPLATES):
        yield from _template(text)


def sentences(passage: str) -> Iterator[str]:
    """Yield the sentences of a passage. A blank line, list item, heading or table row also ends a sentence."""
    passage = re.sub(r"`[^`]*`", "CODE", passage)
    for block in re.split(r"\n\s*\n|\n\s*(?:[-*|+]|\d+[.)])\s|\n\s*#+ ", f"\n{passage}"):
        joined = " ".join(block.split())
        yield from (
            part for part in re.split(r"(?<=[.!?:;])[)\"']?\s+(?=[(\"']?\S)", joined) if part
        )


def _is_prose(literal: str) -> bool:
    program = PROGRAM.search(literal)
    return not program and len(re.findall(r"[A-Za-z]{2,}", literal)) >= WORDS_IN_PROSE


def _python(text: str, *, with_strings: bool) -> Iterator[tuple[int, str]]:
    begin, parts = 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        own_line = not token.line[: token.start[1]].strip()
        if parts and own_line and token.start[0] == begin + len(parts):
            parts.append(token.string.lstrip("#"))
            continue
        if parts:
            yield begin, "\n".join(parts)
        begin, parts = token.start[0], [token.string.lstrip("#")]
    if parts:
        yield begin, "\n".join(parts)
    yield from _python_strings(text, with_strings=with_strings)


def _python_strings(text: str, *, with_strings: bool) -> Iterator[tuple[int, str]]:
    tree = ast.parse(text)
    docstrings, parts = set(), set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            docstrings.add(id(body[0].value))
        if isinstance(node, ast.JoinedStr):
            parts |= {id(value) for value in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            literal = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "N" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            literal = node.value
        else:
            continue
        visible = with_strings and id(node) not in parts and _is_prose(literal)
        if id(node) in docstrings or visible:
            yield node.lineno, literal


def _blank(pattern: str, text: str, flags: int = 0) -> str:
    """Return the text with spaces in place of the pattern's matches; lines do not change."""
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=flags)


def _markdown(text: str) -> Iterator[tuple[int, str]]:
    text = _blank(r"^```.*?^```", text, re.DOTALL | re.MULTILINE)
    # Generated tables are left out, because the manifests from which they are made are checked.
    text = _blank(r"<!-- table .*?<!-- end of table -->", text, re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    line = 1
    for block in re.split(r"(\n\s*\n)", text):
        cells = block.split("|") if block.lstrip().startswith("|") else [block]
        number = line
        for cell in cells:
            if cell.strip():
                yield number + len(cell) - len(cell.lstrip("\n")), cell
            number += cell.count("\n")
        line += block.count("\n")


def _template(text: str) -> Iterator[tuple[int, str]]:
    text = _blank(r"\{%.*?%\}|<(script|style).*?</\1>", text, re.DOTALL)
    text = _blank(r"</?(?:a|b|i|em|strong|code|span|abbr)\b[^>]*>", text)
    text = re.sub(r"\{\{[^\n]*?\}\}", "N", text)
    for found in re.finditer(r"\{#(.*?)#\}|[^<>{}]+(?=<|$|\{)", text, re.DOTALL):
        passage = found[1] or found[0]
        if _is_prose(passage):
            yield text.count("\n", 0, found.start()) + 1, passage
