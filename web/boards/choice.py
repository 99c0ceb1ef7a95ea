"""Reads the order and the filters of the rows of a board (a ranking of libraries) from the URL's query.

The address contains the order and the filters, so users can share it, and the page works without JavaScript. Filters do
not change ranks: a row always shows its rank among all rows of the board. If the order is unknown, the rows are in the
order of their ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leaderboard import catalogue
from leaderboard.configuration_board import OWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from django.http import HttpRequest

    from web.boards.rows import Row

BY_RANK = "rank"
FILTERS = ("structure", "strategy", "concurrency", "user")
SEARCH_MAX = 100  # characters
DIGEST_LEAST = 6  # shorter words of the search are not compared with digests, because they would match by chance

# The columns by which a board can be sorted. A row without a value comes last in both directions.
ORDERS: dict[str, Callable[[Row], Any]] = {
    BY_RANK: lambda row: row.position,
    "entry": lambda row: (row.name.casefold(), row.variant.casefold()),
    "ratio": lambda row: row.ratio,
    "result": lambda row: row.result,
    "sessions": lambda row: row.sessions,
    "submitted": lambda row: row.submitted,
}


@dataclass(frozen=True, slots=True)
class Options:
    """The values that the filters of a board offer."""

    structure: tuple[str, ...]
    strategy: tuple[str, ...]
    concurrency: tuple[str, ...]
    user: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The order and the filters of a board. A missing filter selects all rows; `search` has words, or is empty."""

    order: str
    descending: bool
    filters: dict[str, str]
    search: str

    @classmethod
    def of(cls, request: HttpRequest) -> Choice:
        """Return the choice in the URL's query."""
        sort = request.GET.get("sort", BY_RANK)
        order = sort.removeprefix("-")
        known = order in ORDERS
        return cls(
            order if known else BY_RANK,
            known and sort.startswith("-"),
            {name: value for name in FILTERS if (value := request.GET.get(name, ""))},
            " ".join(request.GET.get("q", "").split())[:SEARCH_MAX],
        )

    @property
    def filtered(self) -> bool:
        """Return True if rows may be left out."""
        return bool(self.filters or self.search)

    @property
    def whole(self) -> bool:
        """Return True if the board shows all rows in the order of their ranks."""
        return not self.filtered and self.order == BY_RANK and not self.descending

    @property
    def query(self) -> dict[str, str]:
        """Return the choice as fields of a URL's query, so that links can repeat it."""
        sort = f"{'-' * self.descending}{self.order}"
        return {
            **self.filters,
            **({"q": self.search} if self.search else {}),
            **({"sort": sort} if sort != BY_RANK else {}),
        }

    def direction(self, order: str) -> str:
        """Return the value of aria-sort for a column, or an empty text if another column decides the order."""
        if order != self.order:
            return ""
        return "descending" if self.descending else "ascending"

    def next(self, order: str) -> str | None:
        """Return the value of `sort` for the link of a column; None if the link selects the default order, by rank."""
        turned = order == self.order and not self.descending
        return f"-{order}" if turned else None if order == BY_RANK else order

    def rows(self, rows: Sequence[Row]) -> list[Row]:
        """Return the chosen rows in the chosen order. Equal rows keep the order of their ranks."""
        words = self.search.casefold().split()
        fields = _fields(rows) if self.filters else {}
        found = [
            row
            for row in rows
            if all(_value(row, name, fields) == value for name, value in self.filters.items())
            and all(_matches(row, word) for word in words)
        ]
        value = ORDERS[self.order]
        known = [row for row in found if value(row) is not None]
        rest = [row for row in found if value(row) is None]
        return sorted(known, key=value, reverse=self.descending) + rest


def options(rows: Sequence[Row]) -> Options:
    """Return what the rows of a board can be filtered by."""
    fields = _fields(rows)
    return Options(
        *(
            _distinct(_value(row, name, fields) for row in rows)
            for name in ("structure", "strategy", "concurrency", "user")
        )
    )


def _fields(rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """Return the fields of each configuration that these rows name. A configuration says how locks are added.

    A row without a configuration is a whole library, which has its own locks and transactions. Its fields are OWN.
    """
    names = {row.configuration for row in rows}
    own = {"strategy": OWN, "concurrency": OWN}
    return {name: catalogue.configuration_fields(name) if name else own for name in names}


def _value(row: Row, name: str, fields: dict[str, dict[str, Any]]) -> str:
    """Return the value of a row that the filter `name` compares."""
    if name == "structure":
        return row.name
    return row.user if name == "user" else str(fields[row.configuration].get(name, ""))


def _matches(row: Row, word: str) -> bool:
    """Return True if a word of the search is in the texts of a row, or begins its digest."""
    text = " ".join((row.library, row.variant, row.user, row.description)).casefold()
    return word in text or (len(word) >= DIGEST_LEAST and row.digest.startswith(word))


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}, key=str.casefold))
