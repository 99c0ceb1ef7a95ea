"""Writes the result of `keydrome compare` as Markdown, for a report: the tables of the screen, and the conditions."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from cli.output import compare_text
from cli.output.markdown_text import bullets, escaped, titled_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from results.compared import Compared, Library


def markdown(compared: Compared, noise: Sequence[str] = ()) -> str:
    """Return the whole comparison as Markdown that ends with a newline.

    `noise` has the warnings about other work on the machine that the screen showed.
    """
    parts = [titled_table(compare_text.libraries(compared))]
    if compared.comparison is not None:
        parts.append(titled_table(compare_text.pairs(compared)))
        parts.append(escaped(compare_text.leaders(compared)))
    warnings = (f"warning: {text}" for text in noise)
    parts.append(
        bullets((*warnings, *compare_text.legend(compared), *compare_text.notes(compared)))
    )
    parts += ["**Conditions**", bullets(_conditions(compared))]
    return "\n\n".join(parts) + "\n"


def _conditions(compared: Compared) -> Iterator[str]:
    """Yield a line for each condition under which the numbers were measured."""
    request = compared.request
    played = request.benchmark.resolve(request.instance, request.scale, request.overrides)
    files = [file.text() for file in (request.keys, request.trace) if file is not None]
    instance = request.benchmark.instance(request.instance)
    named = (
        ("benchmark", f"{request.benchmark.title}. {request.benchmark.description}"),
        ("instance", f"{instance.title}. {instance.description}"),
        ("control", "global_lock, an ordered set with one lock"),
        ("date", f"{datetime.now(tz=UTC):%Y-%m-%d}"),
        ("Keydrome", f"version {version('keydrome')}"),
        ("parameters", ", ".join(f"{name} {value}" for name, value in played.items())),
        ("checks", "none (--plain)" if request.plain else "on"),
        ("sessions", f"{len(compared.counted)} are valid, {compared.wanted} were requested"),
        ("margin", f"{100 * (compared.margin_ratio - 1):g} %"),
        *compare_text.conditions(compared),
        *(_library(library) for library in compared.libraries),
        *_configurations(compared),
    )
    yield from files
    yield from (f"{heading}: {text}" for heading, text in named)


def _library(library: Library) -> tuple[str, str]:
    name = (library.configuration or {}).get("name")
    configured = "" if name is None else f", configuration {name}"
    return f"library {library.name}", f"{library.file}{configured}, sha256 {library.sha256}"


def _configurations(compared: Compared) -> Iterator[tuple[str, str]]:
    """Yield what each configuration means, once."""
    found = {one["name"]: one for library in compared.libraries if (one := library.configuration)}
    for name, configuration in found.items():
        yield f"configuration {name}", str(configuration.get("description", "from a file"))
