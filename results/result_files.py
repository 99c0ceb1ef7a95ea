"""Converts the JSON that `keydrome bench` and `keydrome compare` have written to typed values for the plots.

The code reads only the fields that plots need, and raises StrictError if such a field has another form. The caller has
checked the other fields: cli/input/read_result.py compares each file with its schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from results.stats.pairs import Pair
from runner.report import Report
from runner.strict import ObjectReader

BENCH_SCHEMA = "keydrome.bench.v1"
COMPARE_SCHEMA = "keydrome.compare.v1"


@dataclass(frozen=True, slots=True)
class Instance:
    """The benchmark of a result, its instance (a named set of parameters), and its scale (size)."""

    benchmark: str
    instance: str
    scale: str

    def __str__(self) -> str:
        return f"{self.benchmark}-{self.instance}-{self.scale}"

    @classmethod
    def take(cls, reader: ObjectReader) -> Instance:
        """Return the instance that a result names."""
        return cls(reader.text("benchmark"), reader.text("instance"), reader.text("scale"))


@dataclass(frozen=True, slots=True)
class BenchResult:
    """A result of `keydrome bench`. `reports` has the library's report of each session (repetition) that counts."""

    instance: Instance
    version: int  # of the benchmark
    parameters: dict[str, int]
    library: str  # the name of the library, with its configuration if it has one, such as btree:rw
    reports: tuple[Report, ...]

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> BenchResult:
        """Return the result in a JSON object that fits bench.v1.schema.json."""
        reader = ObjectReader(value, "result")
        sessions = [ObjectReader(item, "session") for item in reader.items("sessions")]
        return cls(
            instance=Instance.take(reader),
            version=reader.integer("benchmark_version"),
            parameters=reader.integers("parameters"),
            library=_library_name(reader),
            reports=tuple(
                Report.from_json(session.mapping("candidate"))
                for session in sessions
                if not session.text("void")
            ),
        )


def _library_name(reader: ObjectReader) -> str:
    file = ObjectReader(reader.mapping("library"), "library").text("file")
    configuration = reader.optional_mapping("configuration")
    stem = file.removesuffix(".so")
    return f"{stem}:{configuration.get('name', 'configured')}" if configuration else stem


@dataclass(frozen=True, slots=True)
class RankedLibrary:
    """A ranked library of a comparison, with one value per valid block. A block runs each library once."""

    name: str
    position: int
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CompareResult:
    """A result of `keydrome compare`. `libraries` contains the libraries with a rank, best first."""

    instance: Instance
    version: int  # of the benchmark
    metric: str
    unit: str
    lower_is_better: bool
    margin_ratio: float
    pairs: tuple[Pair, ...]
    libraries: tuple[RankedLibrary, ...]

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> CompareResult:
        """Return the result in a JSON object that fits compare.v1.schema.json."""
        reader = ObjectReader(value, "result")
        metric = ObjectReader(reader.mapping("metric"), "metric")
        rules = ObjectReader(reader.mapping("rules"), "rules")
        ranked = (_ranked(item) for item in reader.items("libraries"))
        return cls(
            instance=Instance.take(reader),
            version=reader.integer("benchmark_version"),
            metric=metric.text("name"),
            unit=metric.text("unit"),
            lower_is_better=metric.text("direction") == "lower",
            margin_ratio=rules.number("margin_ratio"),
            pairs=tuple(Pair.from_json(item) for item in reader.items("pairs")),
            libraries=tuple(sorted((one for one in ranked if one), key=lambda one: one.position)),
        )


def _ranked(value: object) -> RankedLibrary | None:
    reader = ObjectReader(value, "library")
    rank = reader.optional_mapping("rank")
    if rank is None:
        return None
    return RankedLibrary(
        name=reader.text("name"),
        position=ObjectReader(rank, "rank").integer("position"),
        values=tuple(float(number) for number in reader.items("values")),
    )
