"""Reads the JSON files that `keydrome bench` and `keydrome compare` have written, and checks them by their schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cli.input.values import UsageError
from results.result_files import BENCH_SCHEMA, COMPARE_SCHEMA
from runner.strict import StrictError, parse_object
from runner.text import display_name, printable

if TYPE_CHECKING:
    from pathlib import Path

_SCHEMAS = {
    BENCH_SCHEMA: "bench.v1.schema.json",
    COMPARE_SCHEMA: "compare.v1.schema.json",
}


def read_result(path: Path, schemas: Path) -> dict[str, Any]:
    """Return a result that bench or compare has written. Raises UsageError for any other file."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import

    name = display_name(path.name)
    try:
        result = parse_object(path.read_bytes(), name)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot read the file ({error.strerror}): give a file that bench or compare wrote with --json"
        ) from error
    except StrictError as error:
        raise UsageError(f"{error}: give a file that bench or compare wrote with --json") from error
    schema = _SCHEMAS.get(str(result.get("schema")))
    if schema is None:
        found = printable(repr(result.get("schema"))[:80]) if "schema" in result else "missing"
        raise UsageError(
            f"{name}: not a result of bench or compare, because its field 'schema' is {found}: give a file that bench "
            "or compare wrote with --json"
        )
    rules = parse_object((schemas / schema).read_bytes(), schema)
    fault = next(Draft202012Validator(rules).iter_errors(result), None)
    if fault is not None:
        place = "/".join(map(str, fault.path))
        raise UsageError(
            f"{name}: {f'the field {place}' if place else 'the result'} has another form than this version of Keydrome "
            f"writes ({fault.message[:200]}): run bench or compare again"
        )
    return result
