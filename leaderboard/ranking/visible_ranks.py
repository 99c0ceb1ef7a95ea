"""Computes the ranks of board entries among those that a viewer may see.

A contest may hide entries from a viewer until its results (contests/visibility.py). Without the hidden entries, the
stored ranks of the other entries have gaps. The gaps would reveal that a hidden entry exists, and how good it is. So
the other entries are ranked again among themselves, in the same way as ranking/board_entries.py ranks all entries.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from django.core.cache import cache
from django.db.models import Q

from leaderboard.boards import board_named
from leaderboard.contests.visibility import hidden_runs
from leaderboard.models import BoardEntry
from leaderboard.ranking import rank_intervals

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leaderboard.viewer import Viewer
    from results.stats.family import Rank

CACHE_SECONDS = 600

# A part of a board whose entries can be compared: the board, the benchmark version and the machine class (processor,
# number of CPUs, memory).
Section: TypeAlias = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class VisibleRanks:
    """The ranks that differ from the stored ones: those in sections where something is hidden from the viewer."""

    sections: dict[Section, dict[int, Rank]]

    def apply(self, entries: Iterable[BoardEntry]) -> list[BoardEntry]:
        """Put the ranks into the loaded entries, which stay unsaved; return the entries that have a rank."""
        found = list(entries)
        for entry in found:
            ranks = self.sections.get(section_of(entry))
            if ranks is not None:
                rank = ranks.get(entry.pk)
                entry.position = rank.position if rank else None
                entry.rank_low = rank.low if rank else None
                entry.rank_high = rank.high if rank else None
        return [entry for entry in found if entry.position is not None]

    def ranked(self) -> Q:
        """Return the condition that an entry has a rank for the viewer."""
        elsewhere = Q(position__isnull=False)
        chosen = [pk for ranks in self.sections.values() for pk in ranks]
        return (elsewhere & ~_any(self.sections)) | Q(pk__in=chosen) if self.sections else elsewhere


def section_of(entry: BoardEntry) -> Section:
    """Return the section that the entry belongs to."""
    return entry.board, entry.benchmark_version, entry.machine_class


def visible_ranks(sections: Iterable[Section] | Q, viewer: Viewer | None) -> VisibleRanks:
    """Return the viewer's ranks in these sections; without a viewer, the ranks that the public sees.

    `sections` is a list, or a condition on entries. 1 SQL statement, and 2 more if something is hidden.
    """
    wanted = sections if isinstance(sections, Q) else _any(sections)
    hidden = hidden_runs(
        submission="run__submission", finished_at="run__finished_at", viewer=viewer
    )
    gaps = set(
        BoardEntry.objects.filter(wanted, Q(hidden), position__isnull=False).values_list(
            "board", "benchmark_version", "machine_class"
        )
    )
    return ranks_in(gaps, viewer)


def ranks_in(gaps: set[Section], viewer: Viewer | None) -> VisibleRanks:
    """Return the viewer's ranks in the sections `gaps`, those where something is hidden from the viewer.

    2 SQL statements, or none if `gaps` is empty.
    """
    if not gaps:
        return VisibleRanks({})
    hidden = hidden_runs(
        submission="run__submission", finished_at="run__finished_at", viewer=viewer
    )
    shown = _best(gaps, ~hidden)
    samples = dict(
        BoardEntry.objects.filter(
            pk__in=[pk for chosen in shown.values() for pk in chosen]
        ).values_list("pk", "ratios")
    )
    return VisibleRanks(
        {section: _ranks(section, chosen, samples) for section, chosen in shown.items()}
    )


def within_user_limit(wanted: Q) -> Q:
    """Return the condition that an entry is among its user's best public ones in its section.

    The board's limit `per_user` says how many binaries these are. The result holds for the entries in the sections that
    `wanted` selects. The table also stores *spare* entries beyond the limit, for the case that a contest hides better
    ones. So if none of a user's entries is hidden from the public, the best ones are those that are not spare.
    1 SQL statement, and 1 more if something is hidden.
    """
    hidden = hidden_runs(submission="run__submission", finished_at="run__finished_at")
    gaps = BoardEntry.objects.filter(wanted, Q(hidden), spare=False).values_list(
        "board", "benchmark_version", "machine_class", "user_id"
    )
    sections: set[Section] = set()
    users: set[int] = set()
    for slug, version, name, user in gaps:
        sections.add((slug, version, name))
        users.add(user)
    if not users:
        return Q(spare=False)
    promoted: list[int] = []
    for section, entries in _sorted(sections, Q(~hidden, user_id__in=users)).items():
        board = board_named(section[0])
        if board is not None:
            within = set(_binaries(entries, board.per_user))
            promoted += [entry.pk for entry in entries if entry.binary in within]
    return Q(spare=False) | Q(pk__in=promoted)


def _best(sections: set[Section], visible: Q | object) -> dict[Section, list[int]]:
    """Return the ids of each section's best visible entries, best first. 1 SQL statement.

    As on the whole board, the limits `top` and `per_user` count binaries. Each binary comes with all its variants, i.e.
    its entries under all configurations.
    """
    chosen: dict[Section, list[int]] = {}
    for section, entries in _sorted(sections, visible).items():
        board = board_named(section[0])
        if board is not None:
            best = _binaries(entries, board.per_user)[: board.top]
            chosen[section] = [entry.pk for entry in entries if entry.binary in best]
    return chosen


def _sorted(sections: Iterable[Section], visible: Q | object) -> dict[Section, list[_Row]]:
    """Return each section's visible entries, best first. The board need not exist any longer. 1 SQL statement."""
    found: dict[Section, list[_Row]] = {section: [] for section in sections}
    rows = BoardEntry.objects.filter(_any(found), visible).values_list(
        *("board", "benchmark_version", "machine_class"),
        *("pk", "user_id", "blob_sha256", "score", "run_id", "run__submission__reference"),
    )
    for slug, version, name, *row in rows:
        found[slug, version, name].append(_Row(*row))
    for section, entries in found.items():
        board = board_named(section[0])
        sign = 1.0 if board is None or board.lower_is_better else -1.0
        entries.sort(key=lambda entry: (sign * entry.score, entry.run))
    return found


@dataclass(frozen=True, slots=True)
class _Row:
    """The columns of an entry that decide whether a viewer sees it on a board."""

    pk: int
    user: int
    digest: str
    score: float
    run: int
    reference: bool

    @property
    def binary(self) -> tuple[int, str]:
        return self.user, self.digest


def _binaries(entries: Iterable[_Row], per_user: int) -> list[tuple[int, str]]:
    """Return the binaries within the limit per user, best first. The limit does not count reference entries."""
    counts: Counter[int] = Counter()
    chosen: dict[tuple[int, str], bool] = {}
    for entry in entries:
        if entry.binary not in chosen:
            counts[entry.user] += not entry.reference
            chosen[entry.binary] = entry.reference or counts[entry.user] <= per_user
    return [binary for binary, within in chosen.items() if within]


def _ranks(
    section: Section, entries: Sequence[int], samples: dict[int, list[float]]
) -> dict[int, Rank]:
    board = board_named(section[0])
    assert board is not None  # noqa: S101 - _best has left out boards that do not exist
    ranks = cached_ranks(
        [tuple(samples[pk]) for pk in entries], lower_is_better=board.lower_is_better
    )
    return dict(zip(entries, ranks, strict=True))


def cached_ranks(samples: Sequence[tuple[float, ...]], *, lower_is_better: bool) -> list[Rank]:
    """Return the rank intervals of samples, best first. rank() takes tens of milliseconds, so results are cached."""
    key = f"ranks:{hash((lower_is_better, tuple(samples)))}"
    found: list[Rank] | None = cache.get(key)
    if found is None:
        found = rank_intervals.rank(samples, lower_is_better=lower_is_better)
        cache.set(key, found, CACHE_SECONDS)
    return found


def _any(sections: Iterable[Section]) -> Q:
    """Return the condition that an entry is in one of these sections."""
    by_version: dict[tuple[str, int], set[str]] = defaultdict(set)
    for slug, version, name in sections:
        by_version[slug, version].add(name)
    found = Q(pk__in=())
    for (slug, version), names in by_version.items():
        found |= Q(board=slug, benchmark_version=version, machine_class__in=names)
    return found
