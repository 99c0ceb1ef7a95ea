"""Reads the manifests of the benchmarks, benchmarks/NAME/benchmark.json, and checks requests against them.

Each folder with a manifest is a benchmark; there is no other list. A benchmark has *instances*, which are named sets of
parameter values. An instance has one set of values for each *scale* (size). If a request names an unknown instance,
scale or parameter, or a value out of range, this module refuses it with a message that lists what is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from runner.strict import ObjectReader, StrictError, parse_object
from runner.terms import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


# The advice for a repository without benchmarks.
CLONE_AGAIN = (
    "this clone is incomplete: clone Keydrome again, or set KEYDROME_ROOT to a complete clone"
)


class RequestError(ValueError):
    """A request names something unknown, or has a value out of range. The text says what is allowed."""


class Kind(StrEnum):
    """Whether a benchmark only judges the results of calls (correctness), or also times the calls (performance)."""

    CORRECTNESS = "correctness"
    PERFORMANCE = "performance"


class Direction(StrEnum):
    """Whether a lower or a higher value of a metric is better."""

    LOWER = "lower"
    HIGHER = "higher"


# Units that name no thing to count, such as threads. Parameter.bounds() therefore leaves them out.
_UNITS_WITHOUT_NOUN = {"number", "0 or 1"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """An integer parameter. Instances set it for each scale; a request may override it within its bounds."""

    name: str
    unit: str
    minimum: int
    maximum: int
    description: str

    def bounds(self) -> str:
        """Return the allowed values as text, with the unit if it is a noun, such as threads."""
        if self.unit in _UNITS_WITHOUT_NOUN:
            return f"{self.minimum} to {self.maximum}"
        return f"{self.minimum} to {self.maximum} {self.unit}"


@dataclass(frozen=True, slots=True)
class Instance:
    """A named variant of a benchmark. `scales` maps each supported scale to the value of every parameter."""

    name: str
    title: str
    description: str
    scales: dict[Scale, dict[str, int]]
    advisory: bool = False  # whether findings of this instance are only warnings
    keys: str = ""  # int64 or varchar: a user's file with keys of this type may replace the keys; empty: no file
    trace: bool = False  # whether the instance plays a user's recorded trace, a file of calls


@dataclass(frozen=True, slots=True)
class Metric:
    """The metric by which a benchmark ranks libraries."""

    name: str
    direction: Direction
    unit: str


class OwnUnit(StrEnum):
    """The unit of a metric that only one benchmark reports (OwnMetric)."""

    PER_SECOND = "1/s"
    MEGABYTES_PER_SECOND = "MB/s"
    MILLISECONDS = "ms"
    PERCENT = "%"
    SHARE = "share"
    COUNT = "count"
    MEAN = "mean"


_KEY_TYPES = {"", "int64", "varchar"}
# Values in these units are shown without decimals.
_WHOLE = {OwnUnit.PER_SECOND, OwnUnit.COUNT}
# The label of a metric in one of these units does not name the unit.
_NOT_IN_LABEL = {OwnUnit.COUNT, OwnUnit.MEAN}


@dataclass(frozen=True, slots=True)
class OwnMetric:
    """A metric that only one benchmark reports. results/metrics.py lists the metrics that all benchmarks report."""

    name: str
    title: str
    unit: OwnUnit

    @property
    def label(self) -> str:
        """Return title and unit, for the heading of a table row."""
        return f"{self.title}, {self.written_unit}" if self.written_unit else self.title

    @property
    def written_unit(self) -> str:
        """Return the unit of the numbers that text() writes; empty for a number without a unit."""
        if self.unit in _NOT_IN_LABEL:
            return ""
        return "%" if self.unit is OwnUnit.SHARE else self.unit.value

    def text(self, value: float) -> str:
        """Return a value in this metric's unit, with commas between thousands."""
        if self.unit is OwnUnit.SHARE:
            value *= 100
        return f"{value:,.{0 if self.unit in _WHOLE else 1}f}"


@dataclass(frozen=True, slots=True)
class Limits:
    """The resource limits of a session at one scale. A session executes the benchmark, in phases such as create.

    `memory_bytes` is the lowest memory limit of a library. The referee, which plays the session, computes the limit
    from the number of records, and takes the higher of the two (harness/referee/session/memory_fit.h).
    """

    phase_timeout_ms: int
    memory_bytes: int
    tmpfs_bytes: int
    # For all phases together. It has no effect in verified mode, where a process outside the library's sandbox makes
    # every call.
    session_timeout_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark, as its benchmark.json describes it."""

    name: str
    version: int
    kind: Kind
    title: str
    description: str
    source: str
    instances: dict[str, Instance]
    parameters: dict[str, Parameter]
    metric: Metric | None  # None only for a correctness benchmark
    own_metrics: tuple[OwnMetric, ...]  # in display order
    limits: dict[Scale, Limits]

    def instance(self, name: str) -> Instance:
        """Return the instance of that name. Raises RequestError if there is none."""
        if name not in self.instances:
            raise RequestError(
                f"the benchmark {self.name} has no instance {name!r}; choose one of: {', '.join(self.instances)}"
            )
        return self.instances[name]

    def resolve(self, instance: str, scale: Scale, overrides: Mapping[str, int]) -> dict[str, int]:
        """Return the value of every parameter: from `overrides`, or else the instance's value at `scale`.

        Raises RequestError for an unknown instance, scale or parameter, and for a value out of its bounds.
        """
        scales = self.instance(instance).scales
        if scale not in scales:
            known = ", ".join(scales)
            raise RequestError(
                f"{self.name}/{instance} has no scale {scale.value!r}; choose one of: {known}"
            )
        for name, value in overrides.items():
            if name not in self.parameters:
                known = ", ".join(self.parameters)
                advice = (
                    f"choose one of: {known}" if known else "this benchmark takes no parameters"
                )
                raise RequestError(f"the benchmark {self.name} has no parameter {name!r}; {advice}")
            parameter = self.parameters[name]
            if not parameter.minimum <= value <= parameter.maximum:
                raise RequestError(
                    f"{name} is {value}, but {self.name} allows {parameter.bounds()}: choose a value in this range. "
                    f"Meaning of the parameter {name}: {parameter.description}"
                )
        return {**scales[scale], **overrides}


def load_benchmarks(root: Path) -> dict[str, Benchmark]:
    """Return the repository's benchmarks, sorted by name. Raises StrictError if a manifest is invalid."""
    found = {}
    for path in sorted((root / "benchmarks").glob("*/benchmark.json")):
        benchmark = parse_benchmark(path.read_bytes(), str(path.relative_to(root)))
        if benchmark.name != path.parent.name:
            raise StrictError(
                f"{path}: the name {benchmark.name!r} differs from the folder's name: make them equal"
            )
        found[benchmark.name] = benchmark
    if not found:
        raise StrictError(f"{root / 'benchmarks'} contains no benchmark.json: {CLONE_AGAIN}")
    return found


def find_benchmark(benchmarks: Mapping[str, Benchmark], name: str) -> Benchmark:
    """Return the benchmark of that name. Raises RequestError if there is none."""
    if name not in benchmarks:
        raise RequestError(
            f"there is no benchmark {name!r}; choose one of: {', '.join(benchmarks)}"
        )
    return benchmarks[name]


def parse_benchmark(text: str | bytes, where: str) -> Benchmark:
    """Return the benchmark that a manifest describes. Raises StrictError, which names the wrong field."""
    reader = ObjectReader(parse_object(text, where), where)
    parameters = {
        name: _parameter(name, value, f"{where}.parameters.{name}")
        for name, value in reader.mapping("parameters", required=False).items()
    }
    benchmark = Benchmark(
        name=reader.text("name"),
        version=reader.integer("version", minimum=1),
        kind=reader.word("kind", Kind),
        title=reader.text("title"),
        description=reader.text("description"),
        source=reader.text("source"),
        instances={
            name: _instance(name, value, f"{where}.instances.{name}")
            for name, value in reader.mapping("instances").items()
        },
        parameters=parameters,
        metric=_metric(reader.optional_mapping("metric"), f"{where}.metric"),
        own_metrics=tuple(
            _own_metric(name, value, f"{where}.own_metrics.{name}")
            for name, value in reader.mapping("own_metrics", required=False).items()
        ),
        limits={
            _scale(name, f"{where}.limits"): _limits(value, f"{where}.limits.{name}")
            for name, value in reader.mapping("limits").items()
        },
    )
    reader.end()
    _check_instances(benchmark, where)
    return benchmark


def _check_instances(benchmark: Benchmark, where: str) -> None:
    if not benchmark.instances:
        raise StrictError(f"{where}.instances: at least one instance is required: add one")
    if benchmark.kind is Kind.PERFORMANCE and benchmark.metric is None:
        raise StrictError(f"{where}.metric: a performance benchmark requires a metric: add one")
    for instance in benchmark.instances.values():
        for scale, values in instance.scales.items():
            place = f"{where}.instances.{instance.name}.scales.{scale.value}"
            if set(values) != set(benchmark.parameters):
                wrong = {
                    "missing": set(benchmark.parameters) - set(values),
                    "unknown": set(values) - set(benchmark.parameters),
                }
                odd = "; ".join(f"{what}: {', '.join(sorted(n))}" for what, n in wrong.items() if n)
                raise StrictError(
                    f"{place}: every scale must set every parameter and no other ({odd})"
                )
            if scale not in benchmark.limits:
                raise StrictError(
                    f"{where}.limits: there are none for the scale {scale.value}, which the instance {instance.name} "
                    "has: add them"
                )
            for name, value in values.items():
                parameter = benchmark.parameters[name]
                if not parameter.minimum <= value <= parameter.maximum:
                    raise StrictError(
                        f"{place}.{name}: {value} is not within the bounds of the parameter, {parameter.minimum} to "
                        f"{parameter.maximum}"
                    )


def _scale(name: str, where: str) -> Scale:
    try:
        return Scale(name)
    except ValueError as error:
        raise StrictError(
            f"{where}: the scale {name!r} is unknown; choose one of: {', '.join(Scale)}"
        ) from error


def _parameter(name: str, value: object, where: str) -> Parameter:
    reader = ObjectReader(value, where)
    parameter = Parameter(
        name=name,
        unit=reader.text("unit"),
        minimum=reader.integer("min"),
        maximum=reader.integer("max"),
        description=reader.text("description"),
    )
    reader.end()
    if parameter.minimum > parameter.maximum:
        raise StrictError(
            f"{where}: min ({parameter.minimum}) is larger than max ({parameter.maximum})"
        )
    return parameter


def _instance(name: str, value: object, where: str) -> Instance:
    reader = ObjectReader(value, where)
    title = reader.text("title")
    description = reader.text("description")
    given = reader.mapping("scales")
    scales = ObjectReader(given, f"{where}.scales")
    instance = Instance(
        name=name,
        title=title,
        description=description,
        scales={_scale(key, f"{where}.scales"): scales.integers(key) for key in given},
        advisory=reader.boolean("advisory", default=False),
        keys=reader.text("keys", ""),
        trace=reader.boolean("trace", default=False),
    )
    reader.end()
    if instance.keys not in _KEY_TYPES:
        raise StrictError(f"{where}.keys: must be int64 or varchar, but is {instance.keys!r}")
    return instance


def _metric(value: dict[str, Any] | None, where: str) -> Metric | None:
    if value is None:
        return None
    reader = ObjectReader(value, where)
    metric = Metric(
        name=reader.text("name"),
        direction=reader.word("direction", Direction),
        unit=reader.text("unit"),
    )
    reader.end()
    return metric


def _own_metric(name: str, value: object, where: str) -> OwnMetric:
    reader = ObjectReader(value, where)
    metric = OwnMetric(name=name, title=reader.text("title"), unit=reader.word("unit", OwnUnit))
    reader.end()
    return metric


def _limits(value: object, where: str) -> Limits:
    reader = ObjectReader(value, where)
    limits = Limits(
        phase_timeout_ms=reader.integer("phase_timeout_ms", minimum=1),
        memory_bytes=reader.integer("memory_bytes", minimum=1 << 24),
        tmpfs_bytes=reader.integer("tmpfs_bytes", minimum=0),
        session_timeout_ms=reader.optional_integer("session_timeout_ms"),
    )
    reader.end()
    return limits
