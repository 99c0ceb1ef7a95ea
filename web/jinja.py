"""Builds the Jinja2 environment of the pages, with filters that format numbers, times and texts.

A template that uses an undefined name raises an exception.
"""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import nh3
from django.conf import settings
from django.templatetags.static import static
from django.urls import get_script_prefix, reverse
from django.utils import timezone
from django.utils.http import urlencode
from jinja2 import Environment, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from leaderboard.boards import main_boards
from leaderboard.catalogue import upload_bytes_max
from results.counts import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

UNKNOWN = "\N{EN DASH}"  # shown in place of a number or time that does not exist
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
MARKDOWN_TAGS = frozenset(
    "a blockquote br code em h2 h3 h4 h5 h6 hr li ol p pre strong ul".split()  # noqa: SIM905 - shorter than a list
)
LOWEST_HEADING = 6
SHORT_DIGEST = 12

_markdown = MarkdownIt("commonmark", {"html": False})


def markdown(text: str, *, below: int = 1) -> Markup:
    """Return CommonMark text as safe HTML.

    The HTML contains only MARKDOWN_TAGS, and links only to http, https and mailto. HTML tags in the text itself become
    plain text. The text is below a heading of the page, whose level is `below`. So the highest headings of the text
    have the next level.
    """
    tokens = _markdown.parse(text)
    headings = [token for token in tokens if token.type in {"heading_open", "heading_close"}]
    highest = min((int(token.tag[1]) for token in headings), default=1)
    for token in headings:
        token.tag = f"h{min(int(token.tag[1]) - highest + below + 1, LOWEST_HEADING)}"
    html = nh3.clean(
        _markdown.renderer.render(tokens, _markdown.options, {}),
        tags=set(MARKDOWN_TAGS),
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener nofollow",
    )
    return Markup(html)  # noqa: S704 - sanitised by nh3 above


def number(value: float | None, digits: int = 0) -> str:
    """Return a number with commas between groups of three digits, or a dash for None."""
    if value is None:
        return UNKNOWN
    return f"{value:,.{digits}f}"


def percent(value: float | None) -> str:
    """Return a fraction as a percentage, with one decimal below 10 %, or a dash for None."""
    if value is None:
        return UNKNOWN
    digits = 1 if abs(value) < 0.0995 else 0  # noqa: PLR2004 - larger values round to 10 % or more
    return f"{100 * value:.{digits}f}{NARROW_SPACE}%"


def milliseconds(value: float | None) -> str:
    """Return a time in ms: below 1000 with one decimal, otherwise without decimals."""
    return number(value, 1 if value is not None and abs(value) < 1000 else 0)  # noqa: PLR2004


def ratio(value: float | None) -> str:
    """Return a ratio with three decimals, because boards show differences of a few per cent."""
    return number(value, 3)


def rank_range(low: int, high: int) -> str:
    """Return the ranks from `low` to `high` as text with an en dash, or a single number if the ranks are equal."""
    return str(low) if low == high else f"{low}\N{EN DASH}{high}"


def nanoseconds(value: float | None) -> str:
    """Return a number of nanoseconds as text in ns, µs, ms or s, with three significant digits.

    From 1000 s on, the text has whole seconds.
    """
    if value is None:
        return UNKNOWN
    for divisor, unit in ((1, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")):
        if value / divisor < 999.5:  # noqa: PLR2004 - larger values round to 1000, which "g" writes as 1e+03
            return f"{value / divisor:.3g}{NARROW_SPACE}{unit}"
    return f"{number(value / 1e9)}{NARROW_SPACE}s"


def microseconds(value: float | None) -> str:
    """Return a number of microseconds as text, in the same way as `nanoseconds`."""
    return nanoseconds(None if value is None else value * 1e3)


def size(value: float | None) -> str:
    """Return a number of bytes as text in B, KiB, MiB or GiB."""
    if value is None:
        return UNKNOWN
    scaled = float(value)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if scaled < 1024 or unit == "GiB":  # noqa: PLR2004 - bytes per KiB
            return (
                f"{scaled:.0f}{NARROW_SPACE}{unit}"
                if unit == "B"
                else f"{scaled:.1f}{NARROW_SPACE}{unit}"
            )
        scaled /= 1024
    message = f"no unit fits {value} bytes: this is a fault of Keydrome; report this message to its developers"
    raise AssertionError(message)


def upload_limit() -> str:
    """Return the size limit of an uploaded library as text."""
    return size(upload_bytes_max())


def timestamp(value: datetime | None) -> str:
    """Return a time in UTC, to the second."""
    return UNKNOWN if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def date(value: datetime | None) -> str:
    """Return the date part of a time in UTC."""
    return UNKNOWN if value is None else value.astimezone(UTC).strftime("%Y-%m-%d")


def printable(text: str) -> str:
    """Return untrusted text as one line.

    U+FFFD replaces control characters, line separators, and format characters such as those that change the direction
    of writing.
    """
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp"}
        else character
        for character in text
    )


def lines(text: str) -> list[str]:
    """Return the lines of untrusted text, each made printable."""
    return [printable(line) for line in text.split("\n")]


def sentence(text: str) -> str:
    """Return a message as a sentence: with a capital letter first, and a full stop last unless it ends with ! or ?."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


def words(value: str) -> str:
    """Return an identifier as words: timed_out becomes "timed out"."""
    return value.replace("_", " ")


def short(digest: str) -> str:
    """Return the first SHORT_DIGEST digits of a SHA-256, which suffice to compare binaries by eye."""
    return digest[:SHORT_DIGEST]


def url(name: str, *args: Any, **query: Any) -> str:  # noqa: ANN401 - reverse() takes anything
    """Return the URL of a named page with these arguments, and with `query` as its query string."""
    path = _path(name, args, get_script_prefix())
    fields = urlencode(query, doseq=True)
    return f"{path}?{fields}" if fields else path


@lru_cache(maxsize=4096)
def _path(name: str, args: tuple[Any, ...], _prefix: str) -> str:
    """Return the path of a named page. It is kept, because a page has some 70 links and reverse() is slow."""
    return reverse(name, args=args)


FILTERS: Mapping[str, Any] = {
    "markdown": markdown,
    "number": number,
    "ms": milliseconds,
    "percent": percent,
    "ratio": ratio,
    "ns": nanoseconds,
    "us": microseconds,
    "bytes": size,
    "timestamp": timestamp,
    "date": date,
    "printable": printable,
    "lines": lines,
    "sentence": sentence,
    "words": words,
    "short": short,
    "counted": counted,
}


def environment(**options: Any) -> Environment:  # noqa: ANN401 - passed by Django's backend
    """Build the environment. settings.TEMPLATES names this function, and Django calls it once."""
    built = Environment(  # noqa: S701 - Django's backend sets autoescape in `options`
        **{**options, "undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    )
    built.filters.update(FILTERS)
    built.globals.update(
        static=static,
        url=url,
        now=timezone.now,
        upload_limit=upload_limit,
        sends_mail=lambda: settings.KEYDROME_SENDS_MAIL,
        main_boards=main_boards,
        rank_range=rank_range,
    )
    return built
