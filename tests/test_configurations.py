"""Tests that every configuration fits the schema and names a concurrency control that exists."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "runtime" / "configurations"
SCHEMA = json.loads((FOLDER / "configuration.schema.json").read_text())
PAGE = (ROOT / "docs" / "reference" / "configuration.md").read_text()
METHODS = sorted(path.stem for path in (ROOT / "runtime" / "concurrency").glob("*.cc"))
FILES = sorted(set(FOLDER.glob("*.json")) - {FOLDER / "configuration.schema.json"})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_configuration_fits_the_schema(path: Path) -> None:
    jsonschema.validate(json.loads(path.read_text()), SCHEMA)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_configuration_names_a_concurrency_control(path: Path) -> None:
    assert json.loads(path.read_text())["concurrency"] in METHODS


def test_the_page_describes_only_concurrency_controls_that_exist() -> None:
    described = re.findall(r"^\*\*`([a-z0-9_]+)`\*\*", PAGE, re.MULTILINE)
    assert described
    assert set(described) <= set(METHODS)
