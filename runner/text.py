"""Untrusted text made fit to be shown: names and output that came from strangers."""

from __future__ import annotations

import unicodedata

NAME_LENGTH_MAX = 80
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def display_name(name: str) -> str:
    """Return a file name that is safe to show on one line: the last path component, at most 80 characters.

    Control, format and unassigned characters (newlines, direction overrides) become U+FFFD. The result is for
    display only: files are stored and run under their digest. An empty name becomes "unnamed".
    """
    last = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    shown = "".join(
        "\ufffd" if unicodedata.category(c) in _UNPRINTABLE else c for c in last
    ).strip()
    if len(shown) > NAME_LENGTH_MAX:
        shown = shown[: NAME_LENGTH_MAX - 1] + "\u2026"
    return shown or "unnamed"


def printable(text: str) -> str:
    """Return `text` without the characters that steer a terminal; newlines and tabs stay."""
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in _UNPRINTABLE else "\ufffd" for c in text
    )


def capped(text: str, limit: int) -> str:
    """Return `text`, its middle left out (and counted) when it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    half = limit // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[{left_out} characters left out]\n{text[-half:]}"
