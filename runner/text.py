"""Makes untrusted text safe to show, such as file names from users and the output of uploaded libraries."""

from __future__ import annotations

NAME_LENGTH_MAX = 80


def display_name(name: str) -> str:
    """Return the last component of a path, made safe to show on one line, with at most 80 characters.

    A character that is not printable, such as a newline, becomes U+FFFD. An empty name becomes "unnamed". Use the
    result for display only; uploaded files are stored under their digest.
    """
    last = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    shown = "".join(c if c.isprintable() else "\ufffd" for c in last).strip()
    if len(shown) > NAME_LENGTH_MAX:
        shown = shown[: NAME_LENGTH_MAX - 1] + "\u2026"
    return shown or "unnamed"


def printable(text: str) -> str:
    """Return `text` with every character that is not printable replaced by U+FFFD, except newlines and tabs.

    Such characters could control the terminal that shows the text.
    """
    return "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in text)


def capped(text: str, limit: int) -> str:
    """Return `text` with at most `limit` of its characters: the first and the last ones.

    If characters are left out, a note in the middle says how many.
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    left_out = len(text) - 2 * half
    what = "1 character" if left_out == 1 else f"{left_out} characters"
    return f"{text[:half]}\n[{what} left out]\n{text[len(text) - half :]}"
