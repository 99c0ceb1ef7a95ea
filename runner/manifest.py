"""What benchmarks there are and what may be asked of them: benchmarks/NAME/benchmark.json, read strictly.

The folder is the whole truth: no list of benchmarks exists anywhere else. Requests are checked here, so that a
wrong one gets a sentence that says what is allowed, long before a referee starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from runner.contract import Scale
from runner.strict import ObjectReader, StrictError, parse_object

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class RequestError(ValueError):
    """Somebody asked for what does not exist or is out of range; the text says what is allowed."""


class Kind(StrEnum):
    """Whether a benchmark judges or times."""

    CORRECTNESS = "correctness"
    PERFORMANCE = "performance"


class Direction(StrEnum):
    """Whether less or more of a metric is better."""

    LOWER = "lower"
    HIGHER = "higher"


@dataclass(frozen=True, slots=True)
class Parameter:
    """An integer that an instance fixes per scale and that a request may override within its bounds."""

    name: str
    unit: str
    minimum: int
    maximum: int
    description: str


@dataclass(frozen=True, slots=True)
class Instance:
    """A named setting of a benchmark; `scales` gives the value of every parameter at every scale it has."""

    name: str
    title: str
    description: str
    scales: dict[Scale, dict[str, int]]
    advisory: bool = False  # whatever happens in it is a warning; the referee sees to that


@dataclass(frozen=True, slots=True)
class Metric:
    """The number that a benchmark is ranked by."""

    name: str
    direction: Direction
    unit: str


class OwnUnit(StrEnum):
    """What a number of a benchmark's own is counted in."""

    PER_SECOND = "1/s"
    MEGABYTES_PER_SECOND = "MB/s"
    MILLISECONDS = "ms"
    PERCENT = "%"
    SHARE = "share"
    COUNT = "count"
    MEAN = "mean"


_WHOLE = {OwnUnit.PER_SECOND, OwnUnit.COUNT}
_UNTOLD = {OwnUnit.COUNT, OwnUnit.MEAN}


@dataclass(frozen=True, slots=True)
class OwnMetric:
    """A number that only this benchmark's reports have."""

    name: str
    title: str
    unit: OwnUnit

    @property
    def label(self) -> str:
        """Title and unit, as a table names the number."""
        if self.unit in _UNTOLD:
            return self.title
        return f"{self.title}, {'%' if self.unit is OwnUnit.SHARE else self.unit.value}"

    def text(self, value: float) -> str:
        """Return the number in that unit, with commas between thousands."""
        if self.unit is OwnUnit.SHARE:
            value *= 100
        return f"{value:,.{0 if self.unit in _WHOLE else 1}f}"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one session may use at one scale."""

    phase_timeout_ms: int
    memory_bytes: int
    tmpfs_bytes: int


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark.json."""

    name: str
    version: int
    kind: Kind
    title: str
    description: str
    source: str
    instances: dict[str, Instance]
    parameters: dict[str, Parameter]
    metric: Metric | None  # None: a correctness benchmark without a number to rank by
    own_metrics: tuple[OwnMetric, ...]  # in the order in which they are shown
    limits: dict[Scale, Limits]

    def instance(self, name: str) -> Instance:
        """Return the instance of that name; RequestError with the names there are."""
        if name not in self.instances:
            raise RequestError(
                f"the benchmark {self.name} has no instance {name!r}; it has: {', '.join(self.instances)}"
            )
        return self.instances[name]

    def resolve(self, instance: str, scale: Scale, overrides: Mapping[str, int]) -> dict[str, int]:
        """Return the value of every parameter: the instance's at `scale`, with `overrides` on top.

        RequestError for an unknown instance, scale or parameter, and for a value out of its bounds.
        """
        scales = self.instance(instance).scales
        if scale not in scales:
            known = ", ".join(scales)
            raise RequestError(
                f"{self.name}/{instance} has no scale {scale.value!r}; it has: {known}"
            )
        for name, value in overrides.items():
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise RequestError(
                    f"the benchmark {self.name} has no parameter {name!r}; it has: {known}"
                )
            parameter = self.parameters[name]
            if not parameter.minimum <= value <= parameter.maximum:
                raise RequestError(
                    f"{name} is {value}, but {self.name} allows {parameter.minimum} to "
                    f"{parameter.maximum} {parameter.unit}: {parameter.description}"
                )
        return {**scales[scale], **overrides}


def load_benchmarks(root: Path) -> dict[str, Benchmark]:
    """Return the benchmarks of the repository at `root` by name, sorted. StrictError when a manifest is not sound."""
    found = {}
    for path in sorted((root / "benchmarks").glob("*/benchmark.json")):
        benchmark = parse_benchmark(path.read_bytes(), str(path.relative_to(root)))
        if benchmark.name != path.parent.name:
            raise StrictError(f"{path}: the name {benchmark.name!r} is not the folder's")
        found[benchmark.name] = benchmark
    if not found:
        raise StrictError(f"{root / 'benchmarks'} holds no benchmark.json: is this a whole clone?")
    return found


def find_benchmark(benchmarks: Mapping[str, Benchmark], name: str) -> Benchmark:
    """Return the benchmark of that name; RequestError with the names there are."""
    if name not in benchmarks:
        raise RequestError(f"there is no benchmark {name!r}; there are: {', '.join(benchmarks)}")
    return benchmarks[name]


def parse_benchmark(text: str | bytes, where: str) -> Benchmark:
    """Return the benchmark that a manifest describes; StrictError says what is wrong with it."""
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
        raise StrictError(f"{where}.instances: at least one is needed")
    if benchmark.kind is Kind.PERFORMANCE and benchmark.metric is None:
        raise StrictError(f"{where}.metric: a performance benchmark needs one")
    for instance in benchmark.instances.values():
        for scale, values in instance.scales.items():
            place = f"{where}.instances.{instance.name}.scales.{scale.value}"
            if set(values) != set(benchmark.parameters):
                odd = ", ".join(sorted(set(values) ^ set(benchmark.parameters)))
                raise StrictError(f"{place}: every scale lists every parameter; look at: {odd}")
            if scale not in benchmark.limits:
                raise StrictError(f"{where}.limits: {scale.value} is missing")
            for name, value in values.items():
                parameter = benchmark.parameters[name]
                if not parameter.minimum <= value <= parameter.maximum:
                    raise StrictError(f"{place}.{name}: {value} is out of the parameter's bounds")


def _scale(name: str, where: str) -> Scale:
    try:
        return Scale(name)
    except ValueError as error:
        raise StrictError(f"{where}: {name!r} is not one of {', '.join(Scale)}") from error


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
        raise StrictError(f"{where}: min is larger than max")
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
    )
    reader.end()
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
    )
    reader.end()
    return limits
