"""The two messages between the leaderboard and the runner, and the words they use.

A `Job` says what to run; a `RunReport` says what happened. Both are immutable values with a strict JSON form: an
unknown or missing field is an error, because a message that is half understood would become a wrong result.
Terms: a *run* is one library (or structure under a configuration) on one benchmark instance at one scale; a run has
one or more *sessions*, each a fresh process with a fresh secret seed; in each session of a performance benchmark the
*control* library runs beside the *candidate* (runner/series.py says when).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from runner.strict import ObjectReader, StrictError, flat_facts, parse_object
from runner.witness import Witness

JOB_SCHEMA = "keydrome.job.v1"
RUN_REPORT_SCHEMA = "keydrome.run-report.v1"
REPORT_SCHEMA = "keydrome.report.v1"

_DIGEST = re.compile(r"[0-9a-f]{64}")
_SEED = re.compile(r"[0-9a-f]{16}")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Verdict(StrEnum):
    """How a run ended. Facts of the jail and the referee decide; missing output never does."""

    PASSED = "passed"
    FAILED = "failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    REFUSED = "refused"
    UNSUPPORTED = "unsupported"
    INFRASTRUCTURE = "infrastructure"


class Scale(StrEnum):
    """How large an instance is: `paper` as published, `laptop` minutes, `smoke` at most a second."""

    SMOKE = "smoke"
    LAPTOP = "laptop"
    PAPER = "paper"


class Severity(StrEnum):
    """Whether a finding decides the verdict (`required`) or is shown as a warning (`advisory`)."""

    REQUIRED = "required"
    ADVISORY = "advisory"


class JailLevel(StrEnum):
    """How much of the jail a machine gives, weakest last (docs/reference/jail.md)."""

    FULL = "full"
    WEAK = "weak"
    NONE = "none"


class Cancelled(Exception):  # noqa: N818 - not an error: somebody asked for it
    """The beat function asked for the run to stop; nothing is to be recorded."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands, for progress bars and heartbeats.

    `session` counts from 1 (0 while the library is being inspected). `fraction` is the share of the whole run's
    phases that are done, 0 to 1, never falling within a run.
    """

    session: int
    sessions: int
    role: str  # "inspection", "candidate" or "control"
    phase: str
    fraction: float


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found wrong, and what shows it where there is such a thing."""

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
        """Return the finding in `value`; StrictError when it has another form."""
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
class Job:
    """What the runner is asked to do. `blob_sha256` names the uploaded file in the blob store.

    `configuration` is the name of a configuration in runtime/configurations when the blob is a bare structure, else
    None. `seeds` has one secret 64-bit seed per session, in hexadecimal (16 digits). `parameters` overrides integers
    of the instance. `trusted` lets reference libraries need more shared objects than a contestant's may.
    `record` has every call noted and the history certified; the times are then not those of other runs.
    `recorded_seed` is that of one more session, recorded unannounced beside the timed ones (runner/lot.py).
    `verified` has the driver play outside of the library's process: an audit, whose times are not those of other runs.
    Raises StrictError when a field is out of its range.
    """

    run_id: int
    attempt: int
    blob_sha256: str
    benchmark: str
    benchmark_version: int
    instance: str
    scale: Scale
    seeds: tuple[str, ...]
    configuration: str | None = None
    parameters: tuple[tuple[str, int], ...] = ()
    trusted: bool = False
    plain: bool = False
    record: bool = False
    recorded_seed: str | None = None
    verified: bool = False
    require_level: str = "full"

    def __post_init__(self) -> None:
        _check(
            _DIGEST.fullmatch(self.blob_sha256), "job.blob_sha256: expected 64 hexadecimal digits"
        )
        _check(_NAME.fullmatch(self.benchmark), f"job.benchmark: {self.benchmark!r} is not a name")
        _check(_NAME.fullmatch(self.instance), f"job.instance: {self.instance!r} is not a name")
        named = self.configuration is None or _NAME.fullmatch(self.configuration)
        _check(named, f"job.configuration: {self.configuration!r} is not a name")
        _check(self.run_id >= 0, "job.run_id: must not be negative")
        _check(self.attempt >= 1, "job.attempt: must be at least 1")
        _check(self.benchmark_version >= 1, "job.benchmark_version: must be at least 1")
        _check(self.seeds, "job.seeds: at least one session is needed")
        given = self.seeds if self.recorded_seed is None else (*self.seeds, self.recorded_seed)
        seeds = all(_SEED.fullmatch(seed) for seed in given)
        _check(seeds, "job.seeds: expected 16 hexadecimal digits each")
        _check(len(set(given)) == len(given), "job.seeds: a seed stands twice")
        levels = tuple(JailLevel)
        _check(self.require_level in levels, f"job.require_level: not one of {', '.join(levels)}")

    def to_json(self) -> str:
        """Return the JSON form; `from_json` gives an equal job back."""
        fields = {
            "schema": JOB_SCHEMA,
            "run_id": self.run_id,
            "attempt": self.attempt,
            "blob_sha256": self.blob_sha256,
            "benchmark": self.benchmark,
            "benchmark_version": self.benchmark_version,
            "instance": self.instance,
            "scale": self.scale.value,
            "seeds": list(self.seeds),
            "configuration": self.configuration,
            "parameters": dict(self.parameters),
            "trusted": self.trusted,
            "plain": self.plain,
            "record": self.record,
            "recorded_seed": self.recorded_seed,
            "verified": self.verified,
            "require_level": self.require_level,
        }
        return json.dumps(fields)

    @classmethod
    def from_json(cls, text: str | bytes) -> Job:
        """Return the job in `text`; StrictError when it has another form."""
        reader = ObjectReader(parse_object(text, "job"), "job")
        reader.constant("schema", JOB_SCHEMA)
        job = cls(
            run_id=reader.integer("run_id"),
            attempt=reader.integer("attempt"),
            blob_sha256=reader.text("blob_sha256"),
            benchmark=reader.text("benchmark"),
            benchmark_version=reader.integer("benchmark_version"),
            instance=reader.text("instance"),
            scale=reader.word("scale", Scale),
            seeds=reader.texts("seeds"),
            configuration=reader.optional_text("configuration"),
            parameters=tuple(reader.integers("parameters").items()),
            trusted=reader.boolean("trusted"),
            plain=reader.boolean("plain"),
            record=reader.boolean("record"),
            recorded_seed=reader.optional_text("recorded_seed"),
            verified=reader.boolean("verified"),
            require_level=reader.text("require_level"),
        )
        reader.end()
        return job


@dataclass(frozen=True, slots=True)
class Session:
    """One session: the candidate's report, and the control's beside it (None for correctness benchmarks).

    Reports are the referee's JSON (harness/schema/report.v1.schema.json), already checked against the schema.
    In a session that was cut short (the control failed before the candidate ran) there is no session at all.
    `control_after` is the control's second report where it runs before and after the candidate, as in long series.
    `void` says why the session does not count: the control strayed (runner/stats/drift.py). Empty: it counts.
    """

    seed: str
    candidate_first: bool
    candidate: dict[str, Any]  # report.v1, validated
    control: dict[str, Any] | None
    control_after: dict[str, Any] | None = None
    void: str = ""

    @property
    def controls(self) -> tuple[dict[str, Any], ...]:
        """Return the control's reports: none, one, or two."""
        return tuple(r for r in (self.control, self.control_after) if r is not None)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "seed": self.seed,
            "candidate_first": self.candidate_first,
            "candidate": self.candidate,
            "control": self.control,
            "control_after": self.control_after,
            "void": self.void,
        }

    @classmethod
    def from_json(cls, value: object, where: str = "session") -> Session:
        """Return the session in `value`; StrictError when it has another form."""
        reader = ObjectReader(value, where)
        session = cls(
            seed=reader.text("seed"),
            candidate_first=reader.boolean("candidate_first"),
            candidate=reader.mapping("candidate"),
            control=reader.optional_mapping("control"),
            control_after=reader.optional_mapping("control_after"),
            void=reader.text("void", default=""),
        )
        reader.end()
        for report in (session.candidate, *session.controls):
            known = report.get("schema") == REPORT_SCHEMA
            _check(known, f"{where}: a report that is not {REPORT_SCHEMA}")
        return session


@dataclass(frozen=True, slots=True)
class RunReport:
    """What happened to a job. `sessions` may be fewer than asked when one of them failed the run.

    `jail_level` is the weakest level of all sessions, empty when none ran. `log` is what the library printed, capped
    and untrusted. Times are ISO 8601 in UTC.
    """

    run_id: int
    attempt: int
    verdict: Verdict
    reason: str
    findings: tuple[Finding, ...]
    sessions: tuple[Session, ...]
    jail_level: str
    machine: dict[str, Any]  # flat facts: strings and numbers
    log: str
    library_facts: dict[str, Any]  # inspection result: needed, symbols, kind
    started_at: str
    finished_at: str

    def to_json(self) -> str:
        """Return the JSON form; `from_json` gives an equal report back."""
        fields = {
            "schema": RUN_REPORT_SCHEMA,
            "run_id": self.run_id,
            "attempt": self.attempt,
            "verdict": self.verdict.value,
            "reason": self.reason,
            "findings": [finding.to_json() for finding in self.findings],
            "sessions": [session.to_json() for session in self.sessions],
            "jail_level": self.jail_level,
            "machine": self.machine,
            "log": self.log,
            "library_facts": self.library_facts,
            "started_at": self.started_at,
            "finished_at": self.finished_at,
        }
        return json.dumps(fields, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> RunReport:
        """Return the report in `text`; StrictError when it has another form."""
        reader = ObjectReader(parse_object(text, "run report"), "run report")
        reader.constant("schema", RUN_REPORT_SCHEMA)
        findings = enumerate(reader.items("findings"))
        sessions = enumerate(reader.items("sessions"))
        report = cls(
            run_id=reader.integer("run_id"),
            attempt=reader.integer("attempt"),
            verdict=reader.word("verdict", Verdict),
            reason=reader.text("reason"),
            findings=tuple(Finding.from_json(item, f"findings[{i}]") for i, item in findings),
            sessions=tuple(Session.from_json(item, f"sessions[{i}]") for i, item in sessions),
            jail_level=reader.text("jail_level"),
            machine=flat_facts(reader.mapping("machine"), "run report.machine"),
            log=reader.text("log"),
            library_facts=reader.mapping("library_facts"),
            started_at=reader.text("started_at"),
            finished_at=reader.text("finished_at"),
        )
        reader.end()
        return report


def _check(condition: object, message: str) -> None:
    if not condition:
        raise StrictError(message)
