"""Tests that the runner reads the example plans and reports in harness/schema/examples.

A plan tells the referee, the program that runs and judges a library, what to run. A report is its result.
harness/tests/golden_test.cc tests the same examples with the C++ code of the referee.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from runner.contract import Session
from runner.referee import surely_fits, validate_report
from runner.report import Report
from runner.settings import load_settings
from runner.strict import parse_object

if TYPE_CHECKING:
    from pathlib import Path

    from runner.settings import Settings

SCHEMAS = load_settings({}).root / "harness" / "schema"
EXAMPLES = sorted((SCHEMAS / "examples").glob("*.json"))


def read(path: Path) -> dict[str, Any]:
    return parse_object(path.read_bytes(), str(path))


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.schema.json")), ids=lambda path: path.name)
def test_a_schema_is_a_schema(path: Path) -> None:
    Draft202012Validator.check_schema(read(path))


def test_there_are_examples_of_both_messages() -> None:
    kinds = {read(path)["schema"] for path in EXAMPLES}
    assert kinds == {"keydrome.plan.v1", "keydrome.report.v1"}


def test_every_plan_fits_its_schema() -> None:
    validator = Draft202012Validator(read(SCHEMAS / "plan.v1.schema.json"))
    for value in map(read, EXAMPLES):
        if value["schema"] == "keydrome.plan.v1":
            validator.validate(value)


def test_every_report_fits_its_schema_and_is_taken(settings: Settings) -> None:
    for value in map(read, EXAMPLES):
        if value["schema"] == "keydrome.report.v1":
            check_report(value, settings)


def check_report(value: dict[str, Any], settings: Settings) -> None:
    assert validate_report(value, settings.root) == ""
    report = Report.from_json(value)
    assert report.to_json() == value
    session = Session(report.seed, True, report, None)
    assert Session.from_json(json.loads(json.dumps(session.to_json()))) == session


def test_a_report_may_lack_every_field_that_the_schema_does_not_require(settings: Settings) -> None:
    """Older referees wrote fewer fields. Their reports are in databases and must remain readable."""
    required = read(SCHEMAS / "report.v1.schema.json")["required"]
    for value in map(read, EXAMPLES):
        if value["schema"] == "keydrome.report.v1":
            least = {name: value[name] for name in required}
            assert validate_report(least, settings.root) == ""
            report = Report.from_json(least)
            assert (report.record, report.verified, report.throughput) == (False, False, None)
            assert Report.from_json(report.to_json()) == report


INTEGER = {"type": "integer"}
LISTED = {"type": "array", "prefixItems": [INTEGER, INTEGER], "minItems": 2, "maxItems": 2}
VALUES = st.recursive(
    st.integers() | st.booleans() | st.floats() | st.none() | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)


@given(
    VALUES, st.sampled_from([INTEGER, LISTED, {"type": "string"}, True, {**LISTED, "maxItems": 3}])
)
def test_what_surely_fits_a_schema_is_valid(value: object, schema: Any) -> None:
    if surely_fits(value, schema):
        assert Draft202012Validator(schema).is_valid(value)


def test_numbers_and_pairs_of_numbers_surely_fit() -> None:
    assert surely_fits(3, INTEGER)
    assert surely_fits([3, 4], LISTED)


@pytest.mark.parametrize("bucket", [[1], [1, "2"], [1, 2, 3], "1", [1, True], {"a": 1}])
def test_a_wrong_bucket_is_found_as_without_the_short_cut(
    bucket: object, settings: Settings
) -> None:
    plain = Draft202012Validator(read(SCHEMAS / "report.v1.schema.json"))
    checked = 0
    for value in map(read, EXAMPLES):
        for group in value.get("latency", ()):
            group["buckets"].append(bucket)
            (error,) = plain.iter_errors(value)
            place = "/".join(map(str, error.path))
            assert validate_report(value, settings.root) == f"{place}: {error.message}"
            group["buckets"].pop()
            assert validate_report(value, settings.root) == ""
            checked += 1
    assert checked > 0
