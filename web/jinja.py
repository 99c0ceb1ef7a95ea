"""The Jinja2 environment: strict about names, with the few functions and filters that our pages need."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import nh3
from django.conf import settings
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from jinja2 import Environment, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from leaderboard.boards import main_boards

if TYPE_CHECKING:
    from collections.abc import Mapping

UNKNOWN = "\N{EN DASH}"  # what a table shows where a number does not exist
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
MARKDOWN_TAGS = frozenset(
    "a blockquote br code em h2 h3 h4 hr li ol p pre strong ul".split()  # noqa: SIM905 - as a list it fills a page
)
SHORT_DIGEST = 12

_markdown = MarkdownIt("commonmark", {"html": False})


def markdown(text: str) -> Markup:
    """Return CommonMark as safe HTML: raw HTML is shown as text, and only plain tags and http(s) links survive."""
    html = nh3.clean(
        _markdown.render(text),
        tags=set(MARKDOWN_TAGS),
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener nofollow",
    )
    return Markup(html)  # noqa: S704 - cleaned in the line above


def number(value: float | None, digits: int = 0) -> str:
    """Return a number with thin spaces between thousands, or a dash where there is none."""
    if value is None:
        return UNKNOWN
    return f"{value:,.{digits}f}".replace(",", NARROW_SPACE)


def share(value: float | None) -> str:
    """Return a share in percent, with one digit below 10 %, or a dash where there is none."""
    if value is None:
        return UNKNOWN
    digits = 1 if abs(value) < 0.0995 else 0  # noqa: PLR2004 - what rounds to 10.0 %
    return f"{100 * value:.{digits}f}{NARROW_SPACE}%"


def milliseconds(value: float | None) -> str:
    """Return a time in ms with three significant digits or so: a tenth below 1000, whole above."""
    return number(value, 1 if value is not None and abs(value) < 1000 else 0)  # noqa: PLR2004


def ratio(value: float | None) -> str:
    """Return a ratio to the control with three decimals, as boards compare down to a few per cent."""
    return number(value, 3)


def rank_range(low: int, high: int) -> str:
    """Return the rank, or the range of ranks that the measurements cannot tell apart."""
    return str(low) if low == high else f"{low}\N{EN DASH}{high}"


def nanoseconds(value: float | None) -> str:
    """Return a latency with the unit in which it reads best."""
    if value is None:
        return UNKNOWN
    for limit, divisor, unit in ((1e3, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if value < limit:
            return f"{value / divisor:.3g}{NARROW_SPACE}{unit}"
    return f"{value / 1e9:.3g}{NARROW_SPACE}s"


def microseconds(value: float | None) -> str:
    """Return a time given in microseconds with the unit in which it reads best."""
    return nanoseconds(None if value is None else value * 1e3)


def size(value: float | None) -> str:
    """Return a number of bytes in binary units."""
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
    raise AssertionError(value)


def upload_limit() -> str:
    """Return how large an upload may be, in words."""
    return size(settings.KEYDROME_UPLOAD_BYTES)


def moment(value: datetime | None) -> str:
    """Return a time as all pages show it: UTC, to the second."""
    return UNKNOWN if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def day(value: datetime | None) -> str:
    """Return the date part of a time in UTC."""
    return UNKNOWN if value is None else value.astimezone(UTC).strftime("%Y-%m-%d")


def printable(text: str) -> str:
    """Return untrusted text fit for one line: control and direction characters become a visible replacement."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if unicodedata.category(sign) in {"Cc", "Cf", "Zl", "Zp"}
        else sign
        for sign in text
    )


def lines(text: str) -> list[str]:
    """Return the lines of untrusted text, each printable."""
    return [printable(line) for line in text.split("\n")]


def sentence(text: str) -> str:
    """Return a message of ours as a sentence: with a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


def words(value: str) -> str:
    """Return an identifier such as timed_out as words."""
    return value.replace("_", " ")


def short(digest: str) -> str:
    """Return the first digits of a SHA-256, enough to tell binaries apart by eye."""
    return digest[:SHORT_DIGEST]


def url(name: str, *args: Any, **query: Any) -> str:  # noqa: ANN401 - reverse() takes anything
    """Return the address of a named page, with `query` as its query string."""
    return reverse(name, args=args, query=query or None)


FILTERS: Mapping[str, Any] = {
    "markdown": markdown,
    "number": number,
    "ms": milliseconds,
    "share": share,
    "ratio": ratio,
    "ns": nanoseconds,
    "us": microseconds,
    "bytes": size,
    "moment": moment,
    "day": day,
    "printable": printable,
    "lines": lines,
    "sentence": sentence,
    "words": words,
    "short": short,
}


def environment(**options: Any) -> Environment:  # noqa: ANN401 - what Django's backend hands on
    """Build the environment; unknown names are errors, never empty strings."""
    built = Environment(  # noqa: S701 - Django's backend asks for autoescape in `options`
        **{**options, "undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    )
    built.filters.update(FILTERS)
    built.globals.update(
        static=static,
        url=url,
        now=timezone.now,
        upload_limit=upload_limit,
        main_boards=main_boards,
        rank_range=rank_range,
    )
    return built
