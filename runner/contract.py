"""The two messages between the leaderboard and the runner, and the words they use.

A `Job` says what to run; a `RunReport` says what happened. Both are immutable values with a strict JSON form: an
unknown or missing field is an error, because a message that is half understood would become a wrong result.
Terms: a *run* is one library (or structure under a configuration) on one benchmark instance at one scale; a run has
one or more *sessions*, each a fresh process with a fresh secret seed; in each session of a performance benchmark the
*control* library runs beside the *candidate*, in random order.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

JOB_SCHEMA = "keydrome.job.v1"
RUN_REPORT_SCHEMA = "keydrome.run-report.v1"


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


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found wrong."""

    suite: str
    name: str
    severity: Severity
    detail: str


@dataclass(frozen=True, slots=True)
class Job:
    """What the runner is asked to do. `blob_sha256` names the uploaded file in the blob store.

    `configuration` is the name of a configuration in runtime/configurations when the blob is a bare structure, else
    None. `seeds` has one secret 64-bit seed per session, in hexadecimal (16 digits). `parameters` overrides integers
    of the instance. `trusted` lets reference libraries need more shared objects than a contestant's may.
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
    require_level: str = "full"


@dataclass(frozen=True, slots=True)
class Session:
    """One session: the candidate's report, and the control's beside it (None for correctness benchmarks).

    Reports are the referee's JSON (harness/schema/report.v1.schema.json), already checked against the schema.
    """

    seed: str
    candidate_first: bool
    candidate: dict[str, Any]  # report.v1, validated
    control: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class RunReport:
    """What happened to a job. `sessions` may be fewer than asked when one of them failed the run."""

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
