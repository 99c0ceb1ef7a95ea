"""Checks that functions which only prefetch are always inlined.

Such a function changes nothing that the language knows. So GCC 12 removes each call of it that it does not inline, and
the structure becomes slower without any failing test.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tree.native import without_comments

if TYPE_CHECKING:
    from tree.files import Tree

FUNCTION = re.compile(
    r"(?:^|[;{}])(?P<head>[^;{}]*?\bvoid\s+(?P<name>[\w:]+))\((?P<parameters>[^;{}]*)\)\s*"
    r"(?:const\s*)?(?:noexcept\s*)?\{"
)
INNER_PARENTHESES = re.compile(r"\([^()]*\)")
# A statement without its parentheses that only prefetches, or prepares a prefetch.
PREFETCH = re.compile(
    r"(?:[\w:]+(?:\.|->))*(?:__builtin_prefetch|ask\w*|prefetch\w*)(?:<[^<>]*>)?$"
)
PREPARATION = re.compile(r"(?:const|constexpr|#pragma)\b|return$|$")
CONTROL = re.compile(r"^(?:(?:for|if constexpr|if|else|while)\b\s*)+")
INLINED = re.compile(r"\b(?:always_inline|KEYDROME_HOT)\b")


def check_prefetches(tree: Tree) -> list[str]:
    """Return the functions that only prefetch, but that the compiler may call instead of inlining them."""
    return [
        f"{name}:{line}: {function} only prefetches, so the compiler may remove its calls; make it "
        "[[gnu::always_inline]]"
        for name in tree.having(".cc", ".h")
        if "prefetch" in tree.text(name)
        for line, function in _at_risk(without_comments(tree.text(name)))
    ]


def _at_risk(code: str) -> list[tuple[int, str]]:
    """Return the line and name of each function that only prefetches and is not always inlined."""
    return [
        (code.count("\n", 0, found.start("name")) + 1, found["name"])
        for found in FUNCTION.finditer(code)
        if _only_prefetches(_body(code, found.end())) and not INLINED.search(found["head"])
    ]


def _body(code: str, begin: int) -> str:
    """Return the body of a function that begins after its opening brace."""
    depth, end = 1, begin
    while depth and end < len(code):
        depth += {"{": 1, "}": -1}.get(code[end], 0)
        end += 1
    return code[begin : end - 1]


def _only_prefetches(body: str) -> bool:
    """Return whether the body prefetches, and does nothing else that could have an effect."""
    while INNER_PARENTHESES.search(body):
        body = INNER_PARENTHESES.sub("", body)
    body = re.sub(r"^[ \t]*#pragma[^\n]*$", "", body, flags=re.MULTILINE)
    statements = [CONTROL.sub("", part.strip()) for part in re.split(r"[;{}]", body)]
    return any(PREFETCH.match(one) for one in statements) and all(
        PREFETCH.match(one) or PREPARATION.match(one) for one in statements
    )
