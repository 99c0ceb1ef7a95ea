"""Pages long lists by the ids of their rows, newest first.

A page starts below the id where the previous page ended. An index finds that id, so every page costs the same. Paging
by offset would read all rows before the page, and showing the number of pages would require counting all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from django.db.models import Model

from web.http import number

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """A page of a list. `before` is None on the page with the newest rows; on others, all ids are below `before`.

    `next_before` is the value of `before` for the next page; None if there are no older rows.
    """

    rows: tuple[Row, ...]
    before: int | None
    next_before: int | None


def newest_first(request: HttpRequest, rows: QuerySet[Row], limit: int) -> Page[Row]:
    """Return the page that `before` in the URL's query selects. 1 SQL statement, and those that `rows` prefetches."""
    before = number(request, "before")
    older = rows if before is None else rows.filter(pk__lt=before)
    # The query reads one row more than the page shows, to learn whether there is a next page.
    found = list(older.order_by("-pk")[: limit + 1])
    shown = tuple(found[:limit])
    return Page(shown, before, shown[-1].pk if len(found) > limit else None)
