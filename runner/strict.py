"""Reads JSON objects strictly: a missing, unknown or wrongly typed field is an error that names the field."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum

_Word = TypeVar("_Word", bound="StrEnum")
_JSON_NAMES: dict[type[Any], str] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    type(None): "null",
}


# How a message describes a number that a double cannot hold.
_OUT_OF_RANGE = "the number is not between -1.7e308 and 1.7e308"


class StrictError(ValueError):
    """A JSON document violates its format; the text says where and how."""


def json_name(kind: type[Any]) -> str:
    """Return the name of a type in JSON, with its article, for messages."""
    return _JSON_NAMES.get(kind, kind.__name__)


def parse_object(text: str | bytes, where: str) -> dict[str, Any]:
    """Return the JSON object in `text`. Raises StrictError for other JSON, NaN, infinities and repeated keys."""
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
    except (ValueError, RecursionError) as error:
        raise StrictError(f"{where}: not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise StrictError(f"{where}: expected an object, found {json_name(type(value))}")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"it contains {name}, which JSON does not allow")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has the key {repeated!r} more than once")
    return value


class ObjectReader:
    """Takes the fields out of one JSON object, one by one. `end` raises an error if fields are left.

    Every method raises StrictError if a field has the wrong form. A field that is read with a `default` may be missing.
    """

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise StrictError(f"{where}: expected an object, found {json_name(type(value))}")
        self._fields: dict[str, Any] = dict(value)
        self._where = where

    def _take(self, name: str, kind: type[Any], *, required: bool) -> Any:  # noqa: ANN401 - any JSON value
        if name not in self._fields:
            if required:
                raise StrictError(f"{self._where}: the field {name!r} is missing")
            return None
        value = self._fields.pop(name)
        # In Python a bool is an int, but true is not a number in JSON.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            found = json_name(type(value))
            raise StrictError(f"{self._where}.{name}: expected {json_name(kind)}, found {found}")
        return value

    def text(self, name: str, default: str | None = None) -> str:
        """Return a string field."""
        value = self._take(name, str, required=default is None)
        return str(default if value is None else value)

    def optional_text(self, name: str) -> str | None:
        """Return a string field, or None if it is null or missing."""
        if self._fields.get(name) is None:
            self._fields.pop(name, None)
            return None
        return self.text(name)

    def integer(self, name: str, *, minimum: int | None = None, default: int | None = None) -> int:
        """Return an integer field that is at least `minimum`."""
        value = self._take(name, int, required=default is None)
        number = int(value if value is not None else default or 0)
        if minimum is not None and number < minimum:
            raise StrictError(f"{self._where}.{name}: {number} is less than {minimum}, the minimum")
        return number

    def optional_integer(self, name: str) -> int | None:
        """Return an integer field, or None if it is null or missing."""
        if self._fields.get(name) is None:
            self._fields.pop(name, None)
            return None
        return self.integer(name)

    def number(self, name: str) -> float:
        """Return a field that contains a finite number; an integer is converted to a float."""
        if isinstance(self._fields.get(name), int):
            return float(self.integer(name))
        value = float(self._take(name, float, required=True))
        if not math.isfinite(value):
            raise StrictError(f"{self._where}.{name}: {_OUT_OF_RANGE}")
        return value

    def optional_number(self, name: str) -> float | None:
        """Return a field that contains a finite number, or None if it is null or missing."""
        if self._fields.get(name) is None:
            self._fields.pop(name, None)
            return None
        return self.number(name)

    def boolean(self, name: str, *, default: bool | None = None) -> bool:
        """Return a field that is true or false."""
        value = self._take(name, bool, required=default is None)
        return bool(default if value is None else value)

    def word(self, name: str, words: type[_Word]) -> _Word:
        """Return a field that contains one of the values of the enumeration `words`."""
        value = self.text(name)
        try:
            return words(value)
        except ValueError as error:
            known = ", ".join(words)
            raise StrictError(f"{self._where}.{name}: {value!r} is not one of {known}") from error

    def items(self, name: str, *, required: bool = True) -> list[Any]:
        """Return an array field, or an empty list if the field is optional and missing."""
        value = self._take(name, list, required=required)
        return [] if value is None else list(value)

    def texts(self, name: str, *, required: bool = True) -> tuple[str, ...]:
        """Return an array field that contains strings only."""
        values = self.items(name, required=required)
        for index, value in enumerate(values):
            if not isinstance(value, str):
                raise StrictError(
                    f"{self._where}.{name}[{index}]: expected a string, found {json_name(type(value))}"
                )
        return tuple(values)

    def mapping(self, name: str, *, required: bool = True) -> dict[str, Any]:
        """Return an object field, or an empty dictionary if the field is optional and missing."""
        value = self._take(name, dict, required=required)
        return {} if value is None else dict(value)

    def optional_mapping(self, name: str) -> dict[str, Any] | None:
        """Return an object field, or None if it is null or missing."""
        if self._fields.get(name) is None:
            self._fields.pop(name, None)
            return None
        return self.mapping(name)

    def integers(self, name: str, *, required: bool = True) -> dict[str, int]:
        """Return an object field whose values are integers."""
        values = self.mapping(name, required=required)
        for key, value in values.items():
            if not isinstance(value, int) or isinstance(value, bool):
                found = json_name(type(value))
                raise StrictError(f"{self._where}.{name}.{key}: expected an integer, found {found}")
        return values

    def numbers(self, name: str) -> dict[str, float]:
        """Return an object field whose values are finite numbers. Integers stay int."""
        values = self.mapping(name)
        for key, value in values.items():
            if not isinstance(value, int | float) or isinstance(value, bool):
                found = json_name(type(value))
                raise StrictError(f"{self._where}.{name}.{key}: expected a number, found {found}")
            if not math.isfinite(value):
                raise StrictError(f"{self._where}.{name}.{key}: {_OUT_OF_RANGE}")
        return values

    def optional_numbers(self, name: str) -> dict[str, float] | None:
        """Return an object field whose values are finite numbers, or None if it is null or missing."""
        if self._fields.get(name) is None:
            self._fields.pop(name, None)
            return None
        return self.numbers(name)

    def has(self, name: str) -> bool:
        """Return True if the object has this field and no method has taken it."""
        return name in self._fields

    def constant(self, name: str, expected: str) -> None:
        """Take a field that must be equal to `expected`."""
        value = self.text(name)
        if value != expected:
            raise StrictError(f"{self._where}.{name}: expected {expected!r}, found {value!r}")

    def end(self) -> None:
        """Raise StrictError if a field was not taken. Ignoring an unknown field could lead to a wrong result."""
        if self._fields:
            names = ", ".join(sorted(map(repr, self._fields)))
            one = len(self._fields) == 1
            advice = (
                "remove it or correct its name" if one else "remove them or correct their names"
            )
            raise StrictError(f"{self._where}: unknown field{'' if one else 's'} {names}; {advice}")


def flat_facts(facts: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return `facts` if all values are strings, numbers or booleans. Raises StrictError otherwise."""
    for key, value in facts.items():
        if not isinstance(value, str | int | float | bool):
            found = json_name(type(value))
            raise StrictError(
                f"{where}.{key}: expected a string, a number or a boolean, found {found}"
            )
    return dict(facts)
