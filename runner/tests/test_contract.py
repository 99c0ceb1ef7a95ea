"""Tests of runner/contract.py: jobs and run reports are read back equal from their JSON; other JSON is refused.

A job is the message that tells the runner what to run, and a run report is its answer.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.contract import Job, RunReport, Session
from runner.report import Finding
from runner.strict import StrictError
from runner.terms import Scale, Severity, Verdict
from runner.tests.samples import report

names = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)
hexadecimal = st.text("0123456789abcdef", min_size=16, max_size=16)
jobs = st.builds(
    Job,
    run_id=st.integers(0, 2**63),
    attempt=st.integers(1, 9),
    blob_sha256=st.text("0123456789abcdef", min_size=64, max_size=64),
    benchmark=names,
    benchmark_version=st.integers(1, 99),
    instance=names,
    scale=st.sampled_from(Scale),
    seeds=st.lists(hexadecimal, min_size=1, max_size=20, unique=True).map(tuple),
    configuration=st.none() | names,
    parameters=st.dictionaries(names, st.integers()).map(lambda d: tuple(d.items())),
    trusted=st.booleans(),
    plain=st.booleans(),
    record=st.booleans(),
    require_level=st.sampled_from(["full", "weak", "none"]),
)
findings = st.builds(Finding, st.text(), names, st.sampled_from(Severity), st.text())
facts = st.dictionaries(st.text(), st.text() | st.integers() | st.booleans())
sessions = st.builds(
    Session,
    hexadecimal,
    st.booleans(),
    st.builds(report, verdict=st.sampled_from(Verdict).map(lambda v: v.value)),
    st.none() | st.builds(report),
)
run_reports = st.builds(
    RunReport,
    run_id=st.integers(0, 2**63),
    attempt=st.integers(1, 9),
    verdict=st.sampled_from(Verdict),
    reason=st.text(),
    findings=st.lists(findings, max_size=3).map(tuple),
    sessions=st.lists(sessions, max_size=2).map(tuple),
    jail_level=st.sampled_from(["", "full", "weak", "none"]),
    machine=facts,
    log=st.text(),
    library_facts=facts,
    started_at=st.text(),
    finished_at=st.text(),
)


@given(jobs)
def test_a_job_survives_its_json_form(job: Job) -> None:
    assert Job.from_json(job.to_json()) == job


@given(run_reports)
def test_a_report_survives_its_json_form(run_report: RunReport) -> None:
    assert RunReport.from_json(run_report.to_json()) == run_report


JOB = Job(
    run_id=1,
    attempt=1,
    blob_sha256="a" * 64,
    benchmark="unit",
    benchmark_version=1,
    instance="unit",
    scale=Scale.SMOKE,
    seeds=("0" * 16,),
)


@given(st.sampled_from(sorted(json.loads(JOB.to_json()))))
def test_a_job_without_one_of_its_fields_is_refused(name: str) -> None:
    fields = json.loads(JOB.to_json())
    value = fields.pop(name)
    if value is None:  # null and absent mean the same
        assert Job.from_json(json.dumps(fields)) == JOB
        return
    with pytest.raises(StrictError, match=f"'{name}' is missing"):
        Job.from_json(json.dumps(fields))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "unknown field 'extra'"),
        ({"schema": "keydrome.job.v2"}, "expected 'keydrome.job.v1'"),
        ({"run_id": "1"}, "job.run_id: expected an integer, found a string"),
        ({"run_id": True}, "job.run_id: expected an integer, found a boolean"),
        ({"scale": "huge"}, "'huge' is not one of smoke, laptop, paper"),
        ({"seeds": []}, "at least one session"),
        ({"seeds": ["0"]}, "16 hexadecimal digits"),
        ({"seeds": ["0" * 16, "0" * 16]}, "the same seed is given more than once"),
        ({"blob_sha256": "../../etc/passwd"}, "64 hexadecimal digits"),
        ({"benchmark": "../unit"}, "is not a name"),
        ({"configuration": "a/b"}, "is not a name"),
        ({"parameters": {"threads": 1.5}}, "expected an integer"),
        ({"require_level": "some"}, "not one of full, weak, none"),
        ({"attempt": 0}, "0 is less than 1, the minimum; this is an error of Keydrome"),
    ],
)
def test_a_job_of_another_form_is_refused_with_a_reason(
    change: dict[str, Any], message: str
) -> None:
    fields = {**json.loads(JOB.to_json()), **change}
    with pytest.raises(StrictError, match=message.replace(".", r"\.")):
        Job.from_json(json.dumps(fields))


def test_a_key_that_occurs_twice_is_named() -> None:
    with pytest.raises(StrictError, match="an object has the key 'a' more than once"):
        Job.from_json('{"b": 1, "a": 1, "a": 1}')


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": NaN}', '{"a": 1, "a": 1}', "[" * 100_000])
def test_text_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(StrictError):
        Job.from_json(text)


def test_a_session_with_a_report_of_another_schema_is_refused() -> None:
    good = Session("0" * 16, True, report(), None)
    odd = good.to_json()
    odd["candidate"]["schema"] = "other"
    with pytest.raises(StrictError, match=r"expected 'keydrome\.report\.v1', found 'other'"):
        Session.from_json(odd)
