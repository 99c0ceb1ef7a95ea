"""Makes the columns and rows of a comparison of runs: one column for each run, one row for each number or property.

The page and the exports use the same values. The functions use no database.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leaderboard import catalogue
from results.curves import latency_rows
from results.metrics import METRICS
from runner.manifest import Direction
from web import jinja
from web.submissions.figures import (
    metric_label,
    metric_writer,
    session_median,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from leaderboard.compared_runs import ComparedRun, RunComparison
    from leaderboard.models import Run
    from results.stats.family import Rank

_LOWER = frozenset(
    {
        "total_ms",
        "ns_per_call",
        "cycles_per_call",
        "instructions_per_call",
        "cache_misses_per_call",
        "branch_misses_per_call",
        "memory_peak_bytes",
        "memory_end_bytes",
        "bytes_per_record",
        "cpu_us",
        "final_scan_cpu_us",
        "setup_cpu_us",
    }
)
_HIGHER = frozenset({"throughput_tps"})
# A percentile is shown only if about ten values lie above it. With fewer, a single value could decide it.
_COUNT_FOR = {"p50_us": 20, "p90_us": 100, "p99_us": 1_000, "p999_us": 10_000}
_PERCENTILES = {"p50_us": "50", "p90_us": "90", "p99_us": "99", "p999_us": "99.9"}
_NOT_COMPARED = frozenset({"name", "title", "description", "reference"})


@dataclass(frozen=True, slots=True)
class Column:
    """A run of the comparison. `style` is its number, from 1, which determines the colour and dashes of its lines.

    `ratio` is the run's result divided by that of the control library (the baseline), or None without a result. `rank`
    is None if the statistical tests did not include the run.
    """

    style: int
    run: Run
    library: str
    user: str
    rank: Rank | None
    ratio: float | None
    low: float | None
    high: float | None
    sessions: int
    without: str  # the URL's list of runs without this run

    @property
    def rank_text(self) -> str:
        """Return the rank, or the interval of ranks that the tests allow."""
        return jinja.rank_range(self.rank.low, self.rank.high) if self.rank else jinja.UNKNOWN


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of a cell. `marked` says that it is the best of its row."""

    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row of numbers or of properties. `differs` says that not all cells have the same text."""

    label: str
    cells: list[Cell]

    @property
    def differs(self) -> bool:
        """Return True if the runs differ in this row."""
        return len({cell.text for cell in self.cells}) > 1


def columns(found: RunComparison) -> list[Column]:
    """Return the runs as columns: ranked runs first, the best one leftmost, then the others in the order of the URL."""
    ranks: dict[str, Rank] = {}
    if found.comparison:
        ranks = dict(zip(found.comparison.names, found.comparison.ranks, strict=True))
    ordered = sorted(found.runs, key=lambda one: _position(ranks.get(one.name)))
    ids = [one.run.pk for one in found.runs]
    return [
        Column(
            style=number,
            run=one.run,
            library=library_name(one.run),
            user=jinja.printable(one.run.submission.owner.get_username()),
            rank=ranks.get(one.name),
            ratio=one.run.score if one.ratios else None,
            low=one.run.score_low if one.ratios else None,
            high=one.run.score_high if one.ratios else None,
            sessions=len(one.ratios),
            without=",".join(str(pk) for pk in ids if pk != one.run.pk),
        )
        for number, one in enumerate(ordered, start=1)
    ]


def _position(rank: Rank | None) -> tuple[bool, int]:
    return rank is None, rank.position if rank else 0


def library_name(run: Run) -> str:
    """Return the name of the run's file, without .so."""
    return jinja.printable(run.submission.file_name).removesuffix(".so")


def metrics(runs: Sequence[ComparedRun]) -> dict[str, list[float | None]]:
    """Return the medians over the sessions (repetitions) of each run, for each metric that any of the runs reported."""
    names = ["total_ms", *(metric.name for metric in METRICS), *(own.name for own in _own(runs))]
    found = {
        name: [session_median(name, (s.candidate for s in one.sessions)) for one in runs]
        for name in dict.fromkeys(names)
    }
    return {name: row for name, row in found.items() if any(value is not None for value in row)}


def _own(runs: Iterable[ComparedRun]) -> list[Any]:
    found = (catalogue.benchmarks().get(one.run.benchmark) for one in runs)
    return list({own.name: own for b in found if b for own in b.own_metrics}.values())


def number_rows(runs: Sequence[ComparedRun], *, comparable: bool) -> list[Row]:
    """Return the rows of numbers. The best value of a row is marked if the runs are comparable and not all are equal.

    A row has no mark if neither higher nor lower values are better.
    """
    values = metrics(runs)
    shown: dict[str, tuple[str, Callable[[float], str]]] = {
        "total_ms": ("Time (ms)", jinja.milliseconds)
    }
    shown |= {m.name: (metric_label(m), metric_writer(m)) for m in METRICS}
    shown |= {own.name: (own.label, own.text) for own in _own(runs)}
    rows = [
        _numbers(shown[name][0], row, shown[name][1], _better(name, runs) if comparable else None)
        for name, row in values.items()
    ]
    return rows + _latency_rows(runs, comparable=comparable)


def _better(name: str, runs: Sequence[ComparedRun]) -> Callable[[list[float]], float] | None:
    """Return min or max, the function that picks a metric's best value; None if neither direction is better."""
    benchmark = catalogue.benchmarks().get(runs[0].run.benchmark)
    if benchmark and benchmark.metric and benchmark.metric.name == name:
        return min if benchmark.metric.direction is Direction.LOWER else max
    if name in _LOWER:
        return min
    return max if name in _HIGHER else None


def _numbers(
    label: str,
    values: Sequence[float | None],
    write: Callable[[float], str],
    better: Callable[[list[float]], float] | None,
) -> Row:
    texts = [jinja.UNKNOWN if value is None else write(value) for value in values]
    known = [value for value in values if value is not None]
    best = write(better(known)) if better and len(set(texts)) > 1 and len(known) > 1 else None
    return Row(label, [Cell(text, marked=text == best) for text in texts])


def _latency_rows(runs: Sequence[ComparedRun], *, comparable: bool) -> list[Row]:
    """Return the percentiles of each transaction class that have enough values above them."""
    found = [{row.transaction_class: row for row in latency_rows(r.curves.latency)} for r in runs]
    rows = []
    for name in dict.fromkeys(name for one in found for name in one):
        entries = [one.get(name) for one in found]
        for percentile, label in _PERCENTILES.items():
            values = [
                getattr(entry, percentile)
                if entry and entry.count >= _COUNT_FOR[percentile]
                else None
                for entry in entries
            ]
            if any(value is not None for value in values):
                title = f"Latency of {jinja.words(name)}, {label}{jinja.NARROW_SPACE}%"
                rows.append(
                    _numbers(title, values, jinja.microseconds, min if comparable else None)
                )
    return rows


def property_rows(runs: Sequence[ComparedRun]) -> list[Row]:
    """Return the properties of the runs: first those that differ, then those that are the same in all runs."""
    facts = [_properties(one) for one in runs]
    labels = dict.fromkeys(label for one in facts for label in one)
    rows = [
        Row(label, [Cell(one.get(label, "") or jinja.UNKNOWN) for one in facts]) for label in labels
    ]
    return sorted(rows, key=lambda row: not row.differs)


def configuration(run: Run) -> dict[str, str]:
    """Return the fields of the runtime configuration; none for a library that was submitted without one."""
    name = run.submission.configuration
    fields = catalogue.configuration_fields(name) if name else {}
    return {key: str(value) for key, value in fields.items() if key not in _NOT_COMPARED}


def _properties(one: ComparedRun) -> dict[str, str]:
    run = one.run
    parameters = one.sessions[0].parameters if one.sessions else {}
    return {
        "Configuration": run.submission.configuration or "none",
        **{_label(name): value for name, value in configuration(run).items()},
        "Library": jinja.printable(run.submission.file_name),
        "SHA-256": jinja.short(run.submission.blob_sha256),
        "Kind": str(run.submission.get_kind_display()),
        "Benchmark": f"{run.benchmark} version {run.benchmark_version}",
        "Instance": run.instance,
        "Scale": run.scale,
        "Mode": "verified" if run.verified else "timed",
        "Jail": run.jail_level,
        "Machine": run.machine.name if run.machine else "",
        "Machine class": run.machine.machine_class if run.machine else "",
        **{_label(name): jinja.number(value) for name, value in parameters.items()},
    }


def _label(name: str) -> str:
    text = jinja.words(name)
    return text[:1].upper() + text[1:]
