"""Tests that the table of metrics agrees with the reference page of the report."""

from __future__ import annotations

import re

from results.metrics import METRICS
from runner.settings import load_settings


def test_names_and_labels_are_unique() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    assert len({metric.label for metric in METRICS}) == len(METRICS)


def is_defined(name: str, page: str) -> bool:
    """Return True if the page names the metric."""
    return re.search(rf"\b{name}\b", page) is not None


def test_every_metric_is_in_the_reference() -> None:
    page = (load_settings({}).root / "docs" / "reference" / "plan-and-report.md").read_text()
    assert [metric.name for metric in METRICS if not is_defined(metric.name, page)] == []
