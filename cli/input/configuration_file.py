"""Checks a configuration from a file before any session, so that a wrong field is reported at once.

A structure is a data structure without transactions. A configuration says how the runtime, a library, adds transactions
to it. The runtime makes the same checks (runtime/configuration.cc). Only the runtime knows the structure, so only it
can say that the structure does not support a configuration.
"""

from __future__ import annotations

import json
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from cli.input.values import UsageError
from runner.strict import parse_object
from runner.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.settings import Settings

_TYPES = {
    "string": (str, "a text"),
    "object": (dict, "an object"),
    "boolean": (bool, "true or false"),
}
# In format 1 of configurations, the field `concurrency` was named `control`.
_OLD_NAMES = {"control": "concurrency"}


def check_configuration(found: Mapping[str, Any], where: str, settings: Settings) -> None:
    """Raise UsageError if a field of the configuration is unknown, missing or wrong. `where` is the file's name."""
    problem = _problem(found, settings)
    if problem is not None:
        raise UsageError(printable(f"{where}: {problem}"))


def _problem(found: Mapping[str, Any], settings: Settings) -> str | None:
    folder = settings.root / "runtime"
    path = folder / "configurations" / "configuration.schema.json"
    schema = parse_object(path.read_bytes(), str(path))
    rules = {name: dict(rule) for name, rule in schema["properties"].items()}
    rules["concurrency"]["enum"] = sorted(
        file.stem for file in (folder / "concurrency").glob("*.cc")
    )
    for name in found:
        if name not in rules and name not in _OLD_NAMES:
            return f"the field {name!r} is unknown; {_suggested(name, rules)}"
    for old, new in _OLD_NAMES.items():
        if old in found and new in found:
            return f"the field {old!r} is the old name of {new!r}, and the file has both; remove {old!r}"
    current = {_OLD_NAMES.get(name, name): value for name, value in found.items()}
    for name in schema["required"]:
        if name not in current:
            return f"the field {name!r} is missing; add it, {_allowed(rules[name])}"
    wrong = (_wrong(name, value, rules[name]) for name, value in current.items())
    return next(filter(None, wrong), None) or _contradiction(current)


def _wrong(name: str, value: object, rule: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the value of a field, or None."""
    if "enum" in rule:
        if value in rule["enum"]:
            return None
        return f"the field {name!r} has the value {_shown(value)}; {_suggested(str(value), rule['enum'])}"
    kind, words = _TYPES[rule["type"]]
    if not isinstance(value, kind):
        return f"the field {name!r} has the value {_shown(value)}; it must be {words}"
    if "pattern" in rule and not re.search(rule["pattern"], str(value)):
        return (
            f"the field {name!r} has the value {value!r}; it must consist of {rule['description']}"
        )
    if rule.get("minLength") and not value:
        return f"the field {name!r} is empty; it must be a text of at least one character"
    return None


def _allowed(rule: Mapping[str, Any]) -> str:
    """Return which values a field may have."""
    if "enum" in rule:
        return f"with one of the values {', '.join(map(repr, rule['enum']))}"
    return f"with {rule.get('description', _TYPES[rule['type']][1])} as its value"


def _shown(value: object) -> str:
    """Return a value as it is in the file; a text is in single quotes, as elsewhere in the messages."""
    return repr(value) if isinstance(value, str) else json.dumps(value)


def _contradiction(configuration: Mapping[str, Any]) -> str | None:
    """Return the contradiction between concurrency control and lock, or None."""
    concurrency, lock = configuration["concurrency"], configuration["lock"]
    if (concurrency == "none") == (lock == "none"):
        return None
    needed = "'none'" if concurrency == "none" else "'exclusive' or 'rw'"
    return (
        f"the field 'lock' has the value {lock!r}; it must be {needed}, because the field 'concurrency' has the value "
        f"{concurrency!r}"
    )


def _suggested(word: str, known: Iterable[str]) -> str:
    """Return the known word that is nearest to a wrong one, or all known words if none is near."""
    nearest = get_close_matches(word, [*known, *_OLD_NAMES], n=1)
    if nearest:
        return f"did you mean {_OLD_NAMES.get(nearest[0], nearest[0])!r}?"
    return f"choose one of: {', '.join(known)}"
