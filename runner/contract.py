"""The messages between the site and the runner: a `Job` says what to run, a `RunReport` says what happened.

Both messages are immutable and have a strict JSON form. An unknown field is an error, and so is a missing one without a
default. A reader that understands only part of a message could produce a wrong result.

A *run* judges one library on one *instance* of a benchmark, which is a named set of parameters, at one *scale*, which
selects the size. A library exports the calls of the index API. A run can also judge a *structure*, a data structure
without transactions; its *configuration* says how Keydrome's runtime adds transactions.

The judged library is the *candidate*. A run has one or more *sessions*. Each session uses fresh processes and a secret
seed of its own. In a session of a performance benchmark, a fixed library, the *control*, is timed next to the
candidate, so that noise of the machine cancels (runner/series.py).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from runner.report import AuditPair, Finding, Report, Throughput
from runner.strict import ObjectReader, StrictError, flat_facts, parse_object
from runner.terms import REPORT_ERROR, JailLevel, Scale, Verdict

JOB_SCHEMA = "keydrome.job.v1"
RUN_REPORT_SCHEMA = "keydrome.run-report.v1"

_DIGEST = re.compile(r"[0-9a-f]{64}")
_SEED = re.compile(r"[0-9a-f]{16}")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NAME_RULE = "of lower-case letters, digits and underscores, with a letter first"


class Cancelled(Exception):  # noqa: N818 - not an error: the run was cancelled on request
    """The heartbeat function, which the runner calls regularly, returned False. So the run was stopped.

    The caller must not store a result.
    """


AUDIT_ROLE = ", audit"  # marks what is played again for an audit, see Progress.role


class RefereeError(Exception):
    """The session could not be judged, for a reason other than the library. The text says why."""


@dataclass(frozen=True, slots=True)
class SessionCurves:
    """The throughput in a session that has ended: of the candidate, and of the control library if it ran."""

    session: int
    candidate: Throughput
    control: Throughput | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come, for progress bars and heartbeats.

    `session` counts from 1; it is 0 while the library is inspected. `fraction` is the part of the run that is done,
    from 0 to 1. `fraction` never decreases within a run.
    """

    session: int
    sessions: int
    # What runs: "inspection", "candidate", "control" or "control again" (its second run in a session). If the session
    # is played again for an audit (runner/audit.py), AUDIT_ROLE is added. If several libraries are compared in blocks
    # (runner/blocks.py), `role` is the name of the library that runs.
    role: str
    phase: str
    fraction: float
    curves: SessionCurves | None = None  # of the last session that has ended and has a curve


@dataclass(frozen=True, slots=True)
class Job:
    """What the runner must run. Raises StrictError if a field is out of its range.

    - `blob_sha256`: the SHA-256 digest of the uploaded file, its name in the blob store.
    - `configuration`: for a structure, the name of a file in runtime/configurations; for a library None.
    - `attempt`: counts from 1. The worker, the process that executes jobs, repeats a run if the machine failed.
    - `seeds`: one secret 64-bit seed per session, as 16 hexadecimal digits.
    - `parameters`: the values that replace parameters of the instance.
    - `trusted`: whether the file is a reference library, which may link against more shared objects than uploads.
    - `plain`: whether to run the workload without the extra transactions that check the library.
    - `record`: whether to certify the history of each session, that is, to prove that its transactions were isolated.
      `record` does not change how a session is played. It only makes judging the session take longer.
    - `recorded_seed`: the seed of the spot check, one more session whose history is certified (runner/spot_check.py).
      None if the run has no spot check.
    - `audited_seeds`: the seeds of the audited sessions. An audited session is played a second time, with the other
      value of `verified` (runner/audit.py).
    - `verified`: whether a process outside the jail makes every call, so that the library cannot read its next calls in
      memory. The times of such a run are comparable only with those of other verified runs.
    - `require_level`: the weakest level of the jail (the sandbox for the library) to accept.
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
    audited_seeds: tuple[str, ...] = ()
    verified: bool = False
    require_level: str = "full"

    def __post_init__(self) -> None:
        _check(
            _DIGEST.fullmatch(self.blob_sha256),
            f"job.blob_sha256: {self.blob_sha256!r} does not consist of 64 hexadecimal digits in lower case",
        )
        _check(
            _NAME.fullmatch(self.benchmark),
            f"job.benchmark: {self.benchmark!r} is not a name {_NAME_RULE}",
        )
        _check(
            _NAME.fullmatch(self.instance),
            f"job.instance: {self.instance!r} is not a name {_NAME_RULE}",
        )
        named = self.configuration is None or _NAME.fullmatch(self.configuration)
        _check(named, f"job.configuration: {self.configuration!r} is not a name {_NAME_RULE}")
        _check(self.run_id >= 0, f"job.run_id: {self.run_id} is less than 0, the minimum")
        _check(self.attempt >= 1, f"job.attempt: {self.attempt} is less than 1, the minimum")
        version = self.benchmark_version
        _check(version >= 1, f"job.benchmark_version: {version} is less than 1, the minimum")
        _check(self.seeds, "job.seeds: there is no seed, but a run needs at least one session")
        given = self.seeds if self.recorded_seed is None else (*self.seeds, self.recorded_seed)
        seeds = all(_SEED.fullmatch(seed) for seed in given)
        _check(seeds, "job.seeds: a seed does not consist of 16 hexadecimal digits in lower case")
        _check(len(set(given)) == len(given), "job.seeds: the same seed is given more than once")
        known = set(self.audited_seeds) <= set(self.seeds)
        _check(known, "job.audited_seeds: a seed is not among job.seeds, the seeds of the sessions")
        levels = tuple(JailLevel)
        level = self.require_level
        _check(level in levels, f"job.require_level: {level!r} is not one of {', '.join(levels)}")

    def to_json(self) -> str:
        """Return the JSON form, from which `from_json` makes an equal job."""
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
            "audited_seeds": list(self.audited_seeds),
            "verified": self.verified,
            "require_level": self.require_level,
        }
        return json.dumps(fields)

    @classmethod
    def from_json(cls, text: str | bytes) -> Job:
        """Return the job in `text`. Raises StrictError if the text has another form."""
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
            audited_seeds=reader.texts("audited_seeds"),
            verified=reader.boolean("verified"),
            require_level=reader.text("require_level"),
        )
        reader.end()
        return job


@dataclass(frozen=True, slots=True)
class Session:
    """One session: the report of the candidate, and the reports of the control library.

    `control` is None if the control did not run, as in correctness benchmarks. `control_after` is the second report of
    the control, which exists only if the control runs before and after the candidate. A session in which the control
    fails before the candidate runs is not kept.

    `discarded` is the reason why the session is not used: the control's own time changed too much (runner/drift.py). It
    is empty for a valid session. In JSON the field is called `void`. `audit` has the times of both plays if the session
    was audited, that is, played with and without `Job.verified`.
    """

    seed: str
    candidate_first: bool
    candidate: Report
    control: Report | None
    control_after: Report | None = None
    discarded: str = ""
    audit: AuditPair | None = None

    @property
    def controls(self) -> tuple[Report, ...]:
        """Return the control's reports: none, one, or two."""
        return tuple(r for r in (self.control, self.control_after) if r is not None)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "seed": self.seed,
            "candidate_first": self.candidate_first,
            "candidate": self.candidate.to_json(),
            "control": self.control and self.control.to_json(),
            "control_after": self.control_after and self.control_after.to_json(),
            "void": self.discarded,
            "audit": self.audit and self.audit.to_json(),
        }

    @classmethod
    def from_json(cls, value: object, where: str = "session") -> Session:
        """Return the session in `value`. Raises StrictError if the value has another form."""
        reader = ObjectReader(value, where)
        audit = reader.optional_mapping("audit")
        session = cls(
            seed=reader.text("seed"),
            candidate_first=reader.boolean("candidate_first"),
            candidate=Report.from_json(reader.mapping("candidate"), f"{where}.candidate"),
            control=_optional_report(reader, "control", where),
            control_after=_optional_report(reader, "control_after", where),
            discarded=reader.text("void", default=""),
            audit=None if audit is None else AuditPair.from_json(audit, f"{where}.audit"),
        )
        reader.end()
        return session


def _optional_report(reader: ObjectReader, name: str, where: str) -> Report | None:
    value = reader.optional_mapping(name)
    return None if value is None else Report.from_json(value, f"{where}.{name}")


@dataclass(frozen=True, slots=True)
class RunReport:
    """The result of a job. If a session fails, the run ends, so there may be fewer `sessions` than requested.

    There are more `sessions` if some were discarded and repeated. `jail_level` is the weakest level of all sessions, or
    empty if no session ran. `log` has one line per session and the text that the library printed in its last session;
    this text is untrusted and limited in length. Times are ISO 8601 in UTC.
    """

    run_id: int
    attempt: int
    verdict: Verdict
    reason: str
    findings: tuple[Finding, ...]
    sessions: tuple[Session, ...]
    jail_level: str
    machine: dict[str, Any]  # strings and numbers only
    log: str
    library_facts: dict[str, Any]  # LibraryFacts.to_json()
    started_at: str
    finished_at: str

    def to_json(self) -> str:
        """Return the JSON form, from which `from_json` makes an equal report."""
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
        """Return the report in `text`. Raises StrictError if the text has another form."""
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
        raise StrictError(f"{message}; {REPORT_ERROR}")
