"""Tests that every configuration fits the schema, and that schema and documentation list every concurrency control."""

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


def test_the_schema_names_every_concurrency_control() -> None:
    assert SCHEMA["properties"]["concurrency"]["enum"] == METHODS


def test_the_page_describes_every_concurrency_control() -> None:
    described = re.findall(r"^\*\*`([a-z0-9_]+)`\*\*", PAGE, re.MULTILINE)
    assert sorted(described) == METHODS
    row = next(line for line in PAGE.splitlines() if line.startswith("| `concurrency` |"))
    assert sorted(re.findall(r"`([a-z0-9_]+)`", row.split("|")[2])) == METHODS
