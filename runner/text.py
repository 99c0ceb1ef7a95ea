"""Untrusted text made fit to be shown: names and output that came from strangers."""

from __future__ import annotations

NAME_LENGTH_MAX = 80


def display_name(name: str) -> str:
    """Return a file name that is safe to show on one line: the last path component, at most 80 characters.

    What is not printable (newlines, direction overrides, odd blanks) becomes U+FFFD. The result is for
    display only: files are stored and run under their digest. An empty name becomes "unnamed".
    """
    last = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    shown = "".join(c if c.isprintable() else "\ufffd" for c in last).strip()
    if len(shown) > NAME_LENGTH_MAX:
        shown = shown[: NAME_LENGTH_MAX - 1] + "\u2026"
    return shown or "unnamed"


def printable(text: str) -> str:
    """Return `text` without the characters that steer a terminal; newlines and tabs stay."""
    return "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in text)


def capped(text: str, limit: int) -> str:
    """Return `text`, its middle left out (and counted) when it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    half = limit // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[{left_out} characters left out]\n{text[-half:]}"
