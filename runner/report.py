"""Defines `Report`: what the referee measured and found when it ran one library in one session, as a typed value.

The referee is the trusted process that runs an untrusted library in the jail (sandbox) and judges its results. It
writes report.json, whose format is harness/schema/report.v1.schema.json. `Report.from_json` reads the file strictly: an
unknown, missing or wrongly typed field raises StrictError. Later code uses attributes of `Report`, so the type checker
finds misspelt fields. `to_json` returns JSON from which `from_json` makes an equal report. This JSON can differ from
the file: it may contain default values that the file leaves out, or lack some that the file contains.

Code must not change the lists and dictionaries of a report, because several objects and threads may use it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from runner.strict import ObjectReader, StrictError, json_name
from runner.terms import JailLevel, Scale, Severity, Verdict
from runner.witness import Witness

REPORT_SCHEMA = "keydrome.report.v1"
_BUCKET_NUMBERS = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation or a warning that a check reports. `witness` is the proof, if the check has one."""

    suite: str
    name: str
    severity: Severity
    detail: str
    witness: Witness | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        value: dict[str, Any] = {
            "suite": self.suite,
            "name": self.name,
            "severity": self.severity.value,
            "detail": self.detail,
        }
        if self.witness is not None:
            value["witness"] = self.witness.to_json()
        return value

    @classmethod
    def from_json(cls, value: object, where: str = "finding") -> Finding:
        """Return the finding in `value`. Raises StrictError if the value has another form."""
        reader = ObjectReader(value, where)
        witness = reader.optional_mapping("witness")
        finding = cls(
            suite=reader.text("suite"),
            name=reader.text("name"),
            severity=reader.word("severity", Severity),
            detail=reader.text("detail"),
            witness=None if witness is None else Witness.from_json(witness, f"{where}.witness"),
        )
        reader.end()
        return finding


@dataclass(frozen=True, slots=True)
class Loading:
    """What it cost to load the library and run its constructors: time, CPU time, and growth of the jail's memory.

    A value that the jail cannot measure is None.
    """

    wall_ns: int
    cpu_us: int | None = None
    memory_bytes: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"wall_ns": self.wall_ns} | _known(
            cpu_us=self.cpu_us, memory_bytes=self.memory_bytes
        )

    @classmethod
    def from_json(cls, value: object, where: str = "loading") -> Loading:
        """Return the values in `value`. Raises StrictError if the value has another form."""
        reader = ObjectReader(value, where)
        loading = cls(
            wall_ns=reader.integer("wall_ns", minimum=0),
            cpu_us=reader.optional_integer("cpu_us"),
            memory_bytes=reader.optional_integer("memory_bytes"),
        )
        reader.end()
        return loading


@dataclass(frozen=True, slots=True)
class Phase:
    """The times of one phase of a session, such as "create" or "test".

    - `wall_ns`: the duration by the referee's clock. The jail is frozen between phases; the time runs from before the
      jail is thawed until it is frozen again. If the jail cannot be frozen, the time runs from the referee's message GO
      to the player's message DONE. The player is the process in the jail that loads the library and makes its calls.
    - `pinned`: each thread that called the library was bound to one CPU.
    - `player_ns`: the duration by the player's clock.
    - `cpu_us`: the CPU time of the jail in the phase, or None if the jail cannot measure it.
    - `freezing_ns`: the last part of `wall_ns`, from the player's message DONE until the jail was frozen. None if the
      jail was not frozen.
    - `freezing_cpu_us`: the CPU time of the jail during `freezing_ns`. None if the jail was not frozen.
    - `library_threads`: the number of the library's own threads that lived at the beginning of the phase, at its end,
      or both.
    - `library_cpu_us`: the CPU time of those threads of the library that lived at the end.
    - `exited_cpu_us`: the CPU time of threads that exited: the client threads, which make the calls, and threads of the
      library.
    - `kernel_cpu_us`: the CPU time of each kernel thread that works for the whole machine, by the thread's name.
    """

    name: str
    timed: bool
    wall_ns: int
    pinned: bool = False
    cpu_us: int | None = None
    freezing_ns: int | None = None
    freezing_cpu_us: int | None = None
    player_ns: int | None = None
    library_threads: int | None = None
    library_cpu_us: int | None = None
    exited_cpu_us: int | None = None
    kernel_cpu_us: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        value = {"name": self.name, "timed": self.timed, "wall_ns": self.wall_ns}
        return value | _known(
            pinned=self.pinned or None,
            cpu_us=self.cpu_us,
            freezing_ns=self.freezing_ns,
            freezing_cpu_us=self.freezing_cpu_us,
            player_ns=self.player_ns,
            library_threads=self.library_threads,
            library_cpu_us=self.library_cpu_us,
            exited_cpu_us=self.exited_cpu_us,
            kernel_cpu_us=self.kernel_cpu_us or None,
        )

    @classmethod
    def from_json(cls, value: object, where: str = "phase") -> Phase:
        """Return the phase in `value`. Raises StrictError if the value has another form."""
        reader = ObjectReader(value, where)
        phase = cls(
            name=reader.text("name"),
            timed=reader.boolean("timed"),
            wall_ns=reader.integer("wall_ns", minimum=0),
            pinned=reader.boolean("pinned", default=False),
            cpu_us=reader.optional_integer("cpu_us"),
            freezing_ns=reader.optional_integer("freezing_ns"),
            freezing_cpu_us=reader.optional_integer("freezing_cpu_us"),
            player_ns=reader.optional_integer("player_ns"),
            library_threads=reader.optional_integer("library_threads"),
            library_cpu_us=reader.optional_integer("library_cpu_us"),
            exited_cpu_us=reader.optional_integer("exited_cpu_us"),
            kernel_cpu_us=reader.integers("kernel_cpu_us", required=False),
        )
        reader.end()
        return phase


@dataclass(frozen=True, slots=True)
class LatencyClass:
    """The latencies of one class of transactions, in nanoseconds. The player in the jail measures them.

    `buckets` has a pair (upper bound in ns, number of transactions) for each non-empty bucket of a histogram.
    """

    transaction_class: str
    count: int
    p50_ns: int
    p90_ns: int
    p99_ns: int
    p999_ns: int
    max_ns: int
    buckets: tuple[tuple[int, int], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "class": self.transaction_class,
            "count": self.count,
            "p50_ns": self.p50_ns,
            "p90_ns": self.p90_ns,
            "p99_ns": self.p99_ns,
            "p999_ns": self.p999_ns,
            "max_ns": self.max_ns,
            "buckets": [list(bucket) for bucket in self.buckets],
        }

    @classmethod
    def from_json(cls, value: object, where: str = "latency") -> LatencyClass:
        """Return the latencies in `value`. Raises StrictError if the value has another form."""
        reader = ObjectReader(value, where)
        found = cls(
            transaction_class=reader.text("class"),
            count=reader.integer("count"),
            p50_ns=reader.integer("p50_ns"),
            p90_ns=reader.integer("p90_ns"),
            p99_ns=reader.integer("p99_ns"),
            p999_ns=reader.integer("p999_ns"),
            max_ns=reader.integer("max_ns"),
            buckets=tuple(_bucket(item, where) for item in reader.items("buckets")),
        )
        reader.end()
        return found


def latency_from_json(items: list[Any], where: str = "latency") -> tuple[LatencyClass, ...]:
    """Return the classes in a report's array `latency`. Raises StrictError if an item has another form."""
    return tuple(LatencyClass.from_json(item, f"{where}[{i}]") for i, item in enumerate(items))


@dataclass(frozen=True, slots=True)
class Throughput:
    """The number of commits in each time window of `phase`, in order of time. A window has `window_ns` nanoseconds."""

    phase: str
    window_ns: int
    committed: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "phase": self.phase,
            "window_ns": self.window_ns,
            "committed": list(self.committed),
        }

    @classmethod
    def from_json(cls, value: object, where: str = "throughput") -> Throughput:
        """Return the curve in `value`. Raises StrictError if the value has another form."""
        reader = ObjectReader(value, where)
        curve = cls(
            phase=reader.text("phase"),
            window_ns=reader.integer("window_ns", minimum=1),
            committed=tuple(_integer(item, where) for item in reader.items("committed")),
        )
        reader.end()
        return curve


@dataclass(frozen=True, slots=True)
class AuditPair:
    """The times per call of one session that was played twice with the same seed: in timed and in verified mode.

    In timed mode the process that contains the library makes the calls. In verified mode a process outside the jail
    makes them, so the library cannot know the next call. The candidate is the library that is judged; the control is a
    fixed library for comparison. All times are nanoseconds by the referee's clock.

    `comparable` is False if the machine has fewer than two CPUs for each thread of the workload, or if other processes
    used these CPUs. A call in verified mode then waits for a CPU, and its time says little about the library.
    """

    candidate_timed_ns: float
    candidate_verified_ns: float
    control_timed_ns: float
    control_verified_ns: float
    comparable: bool

    @property
    def candidate_added_ns(self) -> float:
        """Return the time that verified mode adds to a call of the candidate."""
        return self.candidate_verified_ns - self.candidate_timed_ns

    @property
    def control_added_ns(self) -> float:
        """Return the time that verified mode adds to a call to the control library."""
        return self.control_verified_ns - self.control_timed_ns

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: object, where: str = "audit") -> AuditPair:
        """Return the times in `value`. Raises StrictError if the value has another form."""
        reader = ObjectReader(value, where)
        pair = cls(
            candidate_timed_ns=reader.number("candidate_timed_ns"),
            candidate_verified_ns=reader.number("candidate_verified_ns"),
            control_timed_ns=reader.number("control_timed_ns"),
            control_verified_ns=reader.number("control_verified_ns"),
            comparable=reader.boolean("comparable"),
        )
        reader.end()
        return pair


@dataclass(frozen=True, slots=True)
class JailFacts:
    """How the jail protected the machine, and how the program in the jail ended. Unknown numbers are None.

    `mechanisms` lists the protections that the jail used; `missing` lists those that the machine does not support.
    `status` is the word with which the jail reports the end of the program, such as "exited", "signaled" or "timed_out"
    (docs/reference/jail.md). It is empty if the program was not started.
    """

    level: JailLevel
    mechanisms: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    status: str = ""
    exit_code: int | None = None
    signal: int | None = None
    wall_us: int | None = None
    cpu_us: int | None = None
    memory_peak_bytes: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "level": self.level.value,
            "mechanisms": list(self.mechanisms),
            "missing": list(self.missing),
        } | _known(
            status=self.status or None,
            exit_code=self.exit_code,
            signal=self.signal,
            wall_us=self.wall_us,
            cpu_us=self.cpu_us,
            memory_peak_bytes=self.memory_peak_bytes,
        )

    @classmethod
    def from_json(cls, value: object, where: str = "jail") -> JailFacts:
        """Return the facts in `value`. Raises StrictError if the value has another form."""
        reader = ObjectReader(value, where)
        facts = cls(
            level=reader.word("level", JailLevel),
            mechanisms=reader.texts("mechanisms", required=False),
            missing=reader.texts("missing", required=False),
            status=reader.text("status", default=""),
            exit_code=reader.optional_integer("exit_code"),
            signal=reader.optional_integer("signal"),
            wall_us=reader.optional_integer("wall_us"),
            cpu_us=reader.optional_integer("cpu_us"),
            memory_peak_bytes=reader.optional_integer("memory_peak_bytes"),
        )
        reader.end()
        return facts


@dataclass(frozen=True, slots=True)
class Output:
    """The untrusted text that the library printed.

    If `truncated` is True, the text was too long, and the referee kept only its beginning and its end.
    """

    stdout: str
    stderr: str
    truncated: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"stdout": self.stdout, "stderr": self.stderr, "truncated": self.truncated}

    @classmethod
    def from_json(cls, value: object, where: str = "output") -> Output:
        """Return the output in `value`. Raises StrictError if the value has another form."""
        reader = ObjectReader(value, where)
        output = cls(
            stdout=reader.text("stdout"),
            stderr=reader.text("stderr"),
            truncated=reader.boolean("truncated", default=False),
        )
        reader.end()
        return output


@dataclass(frozen=True, slots=True)
class Report:
    """The results of one library in one session.

    - `reason`: why the library did not pass; empty if it passed.
    - `instance`, `scale`: the named set of parameters of the benchmark, and its size.
    - `metrics`: the measured numbers by name. A number that was not measured is absent.
      docs/reference/plan-and-report.md lists the names.
    - `loading`: what it cost to load the library; None in reports of older versions.
    - `parameters`: the value that the session used for every parameter of the benchmark.
    - `plain`: whether the session left out the extra transactions that check the library.
    - `record`: whether the history (all calls with their results) was checked for errors of isolation. The value does
      not change how the session is played.
    - `verified`: whether a process outside the jail made every call. The times are comparable only with those of other
      verified sessions.
    - `machine`: facts and warnings about the machine.
    - `referee`: the memory that the referee used, the memory that it had estimated before the session, and the time of
      its steps. The field is empty if nothing was played. Reports of older versions have no times.
    """

    verdict: Verdict
    reason: str
    benchmark: str
    benchmark_version: int
    instance: str
    scale: Scale
    seed: str
    plain: bool
    findings: tuple[Finding, ...]
    phases: tuple[Phase, ...]
    metrics: dict[str, float]
    jail: JailFacts
    output: Output
    parameters: dict[str, int] = field(default_factory=dict)
    record: bool = False
    verified: bool = False
    latency: tuple[LatencyClass, ...] = ()
    throughput: Throughput | None = None
    machine: dict[str, Any] = field(default_factory=dict)
    loading: Loading | None = None
    referee: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, from which `from_json` makes an equal report."""
        value = {
            "schema": REPORT_SCHEMA,
            "verdict": self.verdict.value,
            "reason": self.reason,
            "benchmark": self.benchmark,
            "benchmark_version": self.benchmark_version,
            "instance": self.instance,
            "scale": self.scale.value,
            "parameters": self.parameters,
            "seed": self.seed,
            "plain": self.plain,
            "record": self.record,
            "verified": self.verified,
            "findings": [finding.to_json() for finding in self.findings],
            "phases": [phase.to_json() for phase in self.phases],
            "metrics": self.metrics,
            "latency": [found.to_json() for found in self.latency],
            "jail": self.jail.to_json(),
            "output": self.output.to_json(),
            "machine": self.machine,
        }
        return value | _known(
            throughput=None if self.throughput is None else self.throughput.to_json(),
            loading=None if self.loading is None else self.loading.to_json(),
            referee=self.referee or None,
        )

    @classmethod
    def from_json(cls, value: object, where: str = "report") -> Report:
        """Return the report in `value`. Raises StrictError if the value has another form."""
        reader = ObjectReader(value, where)
        reader.constant("schema", REPORT_SCHEMA)
        findings = enumerate(reader.items("findings"))
        phases = enumerate(reader.items("phases"))
        throughput = reader.optional_mapping("throughput")
        loading = reader.optional_mapping("loading")
        report = cls(
            verdict=reader.word("verdict", Verdict),
            reason=reader.text("reason"),
            benchmark=reader.text("benchmark"),
            benchmark_version=reader.integer("benchmark_version"),
            instance=reader.text("instance"),
            scale=reader.word("scale", Scale),
            seed=reader.text("seed"),
            plain=reader.boolean("plain"),
            findings=tuple(Finding.from_json(f, f"{where}.findings[{i}]") for i, f in findings),
            phases=tuple(Phase.from_json(p, f"{where}.phases[{i}]") for i, p in phases),
            metrics=reader.numbers("metrics"),
            jail=JailFacts.from_json(reader.mapping("jail"), f"{where}.jail"),
            output=Output.from_json(reader.mapping("output"), f"{where}.output"),
            parameters=reader.integers("parameters", required=False),
            record=reader.boolean("record", default=False),
            verified=reader.boolean("verified", default=False),
            latency=latency_from_json(reader.items("latency", required=False), f"{where}.latency"),
            throughput=None
            if throughput is None
            else Throughput.from_json(throughput, f"{where}.throughput"),
            machine=reader.mapping("machine", required=False),
            loading=None if loading is None else Loading.from_json(loading, f"{where}.loading"),
            referee=reader.integers("referee", required=False),
        )
        reader.end()
        return report


def _known(**values: object) -> dict[str, Any]:
    """Return the values that are not None, because the JSON leaves out unknown numbers."""
    return {name: value for name, value in values.items() if value is not None}


def _integer(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise StrictError(f"{where}: expected an integer, found {json_name(type(value))}")
    return value


def _bucket(value: object, where: str) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != _BUCKET_NUMBERS:
        items = f"an array of {len(value)} items" if isinstance(value, list) else ""
        found = items or json_name(type(value))
        raise StrictError(
            f"{where}.buckets: each item must be an array [upper bound, count], but one is {found}"
        )
    return _integer(value[0], where), _integer(value[1], where)
