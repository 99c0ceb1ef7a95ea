"""Implements `keydrome list`: prints the benchmarks, libraries, structures and configurations of this clone.

A structure is a data structure without transactions. A configuration says how Keydrome's runtime adds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cli.input.values import UsageError
from cli.output.files import stream_for_people, write_json
from results.metrics import rankable
from runner.catalogue import (
    Reference,
    configuration_names,
    load_configuration,
    reference_libraries,
    structures,
)
from runner.manifest import load_benchmarks
from runner.settings import load_settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping

    from runner.manifest import Benchmark
    from runner.settings import Settings

LIST_SCHEMA = "keydrome.list.v1"
_TITLES = {
    "benchmarks": "Benchmarks",
    "libraries": "Reference libraries",
    "structures": "Structures",
    "configurations": "Configurations (for structures: --config NAME)",
}


def run(options: argparse.Namespace) -> int:
    """Run the command. Returns 0, or raises UsageError if nothing matches the filter."""
    found = _matching(_everything(load_settings()), options.words)
    if not any(found.values()):
        raise UsageError(
            f"no name, title or description contains {' and '.join(map(repr, options.words))}: "
            "`keydrome list` prints everything"
        )
    stream = stream_for_people(options.json)
    for section, entries in found.items():
        if entries:
            print(_TITLES[section], file=stream)
        for entry in entries:
            for line in _lines(section, entry):
                print(f"  {line}", file=stream)
    if options.json is not None:
        write_json(options.json, {"schema": LIST_SCHEMA, **found})
    return 0


def _everything(settings: Settings) -> dict[str, list[dict[str, Any]]]:
    """Return the JSON form (harness/schema/list.v1.schema.json), without the field `schema`."""
    return {
        "benchmarks": [_benchmark(one) for one in load_benchmarks(settings.root).values()],
        "libraries": _references(reference_libraries(settings)),
        "structures": _references(structures(settings)),
        "configurations": [
            {"name": name, "title": load_configuration(settings, name).get("title", "")}
            for name in configuration_names(settings)
        ],
    }


def _benchmark(benchmark: Benchmark) -> dict[str, Any]:
    return {
        "name": benchmark.name,
        "version": benchmark.version,
        "kind": benchmark.kind.value,
        "title": benchmark.title,
        "description": benchmark.description,
        "metrics": [metric.name for metric in rankable(benchmark)],
        "instances": [
            {
                "name": instance.name,
                "title": instance.title,
                "scales": [scale.value for scale in instance.scales],
                "keys": instance.keys,
                "trace": instance.trace,
            }
            for instance in benchmark.instances.values()
        ],
        "parameters": [
            {
                "name": parameter.name,
                "unit": parameter.unit,
                "min": parameter.minimum,
                "max": parameter.maximum,
                "description": parameter.description,
            }
            for parameter in benchmark.parameters.values()
        ],
    }


def _references(references: Iterable[Reference]) -> list[dict[str, Any]]:
    return [
        {
            "name": reference.name,
            "description": reference.description,
            "path": str(reference.path),
            "built": reference.path.is_file(),
        }
        for reference in references
    ]


def _matching(
    everything: Mapping[str, list[dict[str, Any]]], words: list[str]
) -> dict[str, list[dict[str, Any]]]:
    """Return the entries whose name, title or description contains every word, ignoring case."""

    def matches(entry: dict[str, Any]) -> bool:
        text = " ".join(str(entry.get(key, "")) for key in ("name", "title", "description"))
        return all(word.casefold() in text.casefold() for word in words)

    return {section: list(filter(matches, entries)) for section, entries in everything.items()}


def _lines(section: str, entry: dict[str, Any]) -> Iterator[str]:
    name = entry["name"]
    if section == "benchmarks":
        yield f"{name} version {entry['version']} ({entry['kind']}): {entry['title']}"
        yield from _benchmark_lines(entry)
    elif section == "configurations":
        yield f"{name}: {entry['title']}" if entry["title"] else name
    else:
        built = "" if entry["built"] else ", not built"
        yield f"{name}: {entry['description']} ({entry['path']}{built})"


def _benchmark_lines(entry: dict[str, Any]) -> Iterator[str]:
    for instance in entry["instances"]:
        keys = f"; --keys {instance['keys']}" if instance["keys"] else ""
        trace = "; --trace" if instance["trace"] else ""
        scales = ", ".join(instance["scales"])
        yield f"  {instance['name']} ({scales}{keys}{trace}): {instance['title']}"
    for parameter in entry["parameters"]:
        bounds = f"{parameter['min']}..{parameter['max']} {parameter['unit']}"
        yield f"  -p {parameter['name']}={bounds}: {parameter['description']}"
