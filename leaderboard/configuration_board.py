"""Reads the configuration boards. Such a board compares structures under configurations on the workloads of a family.

A *structure* is an index without transactions and locks; a *configuration* says how Keydrome adds these. A *family*
is a group of boards (leaderboard/boards). A configuration board has one row for each binary of a user under one
configuration, and one column for each board of the family. Its cells are the board entries that
ranking/board_entries.py keeps, even those that are not among a board's best.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db.models import Case, Count, F, FloatField, Max, Q, When

from leaderboard import catalogue
from leaderboard.boards import Board, all_boards
from leaderboard.contests.visibility import hidden_runs
from leaderboard.live_boards import live_sections, live_versions
from leaderboard.models import BoardEntry
from leaderboard.ranking.visible_ranks import within_user_limit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet

    from leaderboard.models import Run

# The largest number of rows of a configuration board. Users find the other rows with the filters.
ROWS_MAX = 60
# The largest number of values that a filter offers.
OPTIONS_MAX = 200
# The value of the filters `strategy` and `concurrency` that selects whole libraries, which use no configuration.
OWN = "own"


@dataclass(frozen=True, slots=True)
class Filters:
    """Which entries a configuration board shows. An empty text selects all.

    `structure` is a file name without ".so". `strategy` and `concurrency` are fields of a configuration, or OWN.
    """

    structure: str = ""
    strategy: str = ""
    concurrency: str = ""
    machine: str = ""
    user: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """The values that the filters offer."""

    structures: tuple[str, ...]
    strategies: tuple[str, ...]
    concurrencies: tuple[str, ...]
    machines: tuple[str, ...]
    users: tuple[str, ...]


@dataclass(slots=True)
class Variant:
    """A row: one user's binary under one configuration, with its entry on each board, by slug."""

    entries: dict[str, BoardEntry] = field(default_factory=dict)

    @property
    def newest_run(self) -> Run:
        """Return the newest run of the row's entries."""
        return max((entry.run for entry in self.entries.values()), key=lambda run: run.pk)


@dataclass(frozen=True, slots=True)
class ConfigurationBoard:
    """A configuration board: the boards that are its columns, and its rows in no particular order.

    Only boards with an entry in one of the rows are columns. `machine` is the machine class of all entries, or empty.
    """

    boards: tuple[Board, ...]
    variants: tuple[Variant, ...]
    machine: str
    options: Options
    cut: bool  # whether there are more than ROWS_MAX rows


def boards_of(family: str) -> tuple[Board, ...]:
    """Return the boards of a family: first the main boards (those of a contest), then the others, each by title."""
    found = [board for board in all_boards() if board.family == family]
    return tuple(sorted(found, key=lambda board: (not board.main, board.title.casefold())))


def configuration_board(
    family: str, filters: Filters, columns: Iterable[str] = ()
) -> ConfigurationBoard:
    """Return the configuration board of a family, by default on the machine class with the newest run.

    `columns` are the slugs of the boards to show; none means all. 6 SQL statements, and 1 more while a contest hides
    entries.
    """
    boards = boards_of(family)
    chosen = tuple(board for board in boards if board.slug in set(columns)) or boards
    current = live_sections(boards, live_versions())
    every = BoardEntry.objects.filter(public_entries(current), within_user_limit(current))
    newest = every.values("machine_class").annotate(newest=Max("run_id")).order_by("-newest")
    machines = tuple(row["machine_class"] for row in newest)
    machine = filters.machine if filters.machine in machines else next(iter(machines), "")
    same_machine = every.filter(machine_class=machine)
    options = _options(same_machine, machines)
    selected = _filtered(same_machine.filter(board__in=[board.slug for board in chosen]), filters)
    keys = _rows(selected, chosen)
    variants = _variants(selected, keys[:ROWS_MAX])
    shown = {slug for variant in variants for slug in variant.entries}
    return ConfigurationBoard(
        boards=tuple(board for board in chosen if board.slug in shown),
        variants=variants,
        machine=machine,
        options=options,
        cut=len(keys) > ROWS_MAX,
    )


def public_entries(sections: Q) -> Q:
    """Return the condition that an entry is public and meets `sections`, a condition on entries. Executes no SQL."""
    return sections & Q(~hidden_runs(submission="run__submission", finished_at="run__finished_at"))


def structure_name(file_name: str) -> str:
    """Return the name of a structure or library: its file name without the ending."""
    return file_name.removesuffix(".so") or file_name


def file_names(structure: str) -> tuple[str, str]:
    """Return the file names whose `structure_name` is this one."""
    return structure, f"{structure}.so"


def _filtered(entries: QuerySet[BoardEntry], filters: Filters) -> QuerySet[BoardEntry]:
    if filters.structure:
        entries = entries.filter(run__submission__file_name__in=file_names(filters.structure))
    if filters.user:
        entries = entries.filter(user__username=filters.user)
    for name in ("strategy", "concurrency"):
        if wanted := getattr(filters, name):
            entries = entries.filter(configuration__in=_configurations_with(name, wanted))
    return entries


def _configurations_with(name: str, value: str) -> list[str]:
    """Return the configurations whose field `name` has this value. A whole library has the configuration ""."""
    if value == OWN:
        return [""]
    known = catalogue.configurations()
    return [one for one in known if catalogue.configuration_fields(one).get(name) == value]


def _options(entries: QuerySet[BoardEntry], machines: tuple[str, ...]) -> Options:
    """Return what the entries of a machine class can be filtered by. 1 SQL statement."""
    found = list(
        entries.values_list("run__submission__file_name", "configuration", "user__username")
        .distinct()
        .order_by("run__submission__file_name", "configuration", "user__username")[
            : OPTIONS_MAX * 5
        ]
    )
    fields = [
        catalogue.configuration_fields(name) if name else {"strategy": OWN, "concurrency": OWN}
        for name in sorted({configuration for _, configuration, _ in found})
    ]
    return Options(
        structures=_distinct(structure_name(name) for name, _, _ in found),
        strategies=_distinct(one.get("strategy", "") for one in fields),
        concurrencies=_distinct(one.get("concurrency", "") for one in fields),
        machines=machines,
        users=_distinct(user for _, _, user in found),
    )


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value})[:OPTIONS_MAX])


def _rows(entries: QuerySet[BoardEntry], boards: Iterable[Board]) -> list[tuple[int, str, str]]:
    """Return the keys of at most ROWS_MAX + 1 rows. The last one shows that there are too many. 1 SQL statement.

    Rows that were measured on more workloads come first. Rows with equally many workloads are sorted by their worst
    ratio to the control library; the best of these ratios comes first. This order only decides which rows are beyond
    ROWS_MAX. The page sorts the rows by robustness, which SQL cannot compute, because robustness depends on the ratios
    of the sessions.
    """
    higher = [board.slug for board in boards if not board.lower_is_better]
    cost = Case(
        When(board__in=higher, then=1.0 / F("score")),
        default=F("score"),
        output_field=FloatField(),
    )
    keys = entries.values("user_id", "blob_sha256", "configuration").annotate(
        measured=Count("board"), worst=Max(cost)
    )
    ordered = keys.order_by("-measured", "worst", "user_id", "blob_sha256", "configuration")
    found = ordered.values_list("user_id", "blob_sha256", "configuration")
    return list(found[: ROWS_MAX + 1])


def _variants(
    entries: QuerySet[BoardEntry], keys: Iterable[tuple[int, str, str]]
) -> tuple[Variant, ...]:
    """Return the rows with these keys. 1 SQL statement."""
    variants = {key: Variant() for key in keys}
    loaded = (
        entries.filter(
            user_id__in={user for user, _, _ in variants},
            blob_sha256__in={digest for _, digest, _ in variants},
        )
        .select_related("run__submission", "user")
        .defer("advisories", "run__seeds", "run__why_not", "run__submission__facts")
    )
    for entry in loaded:
        variant = variants.get((entry.user_id, entry.blob_sha256, entry.configuration))
        if variant is not None:
            variant.entries[entry.board] = entry
    return tuple(variants.values())
