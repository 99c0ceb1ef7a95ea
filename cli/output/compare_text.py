"""Says in words and rows what `keydrome compare` found, for the screen (compare_table.py) and for Markdown.

The libraries were timed in blocks; each block ran every library once. Each block also timed two fixed libraries: the
control, which shows the noise of the machine, and the null library, which does nothing. So the time of the null library
is the time of the harness, the code that makes the calls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from cli.output.compare_forecast import SESSIONS_MAX
from results.compared import FLOOR_RATIO_MIN, weakest
from results.counts import counted, listed
from results.metrics import TOTAL_MS, ranked_by
from results.stats.family import MARGIN_RATIO, SIGNIFICANCE
from results.stats.pairs import Relation, sessions_needed
from results.summary import RANKED_SESSIONS_MIN
from runner.blocks import FLOOR
from runner.drift import VALUES_MIN, why_too_busy
from runner.machine import machine_facts
from runner.manifest import Direction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from results.compared import Compared
    from results.stats.family import Rank
    from results.stats.pairs import Pair

_P_MIN = 0.0001


@dataclass(frozen=True, slots=True)
class Rows:
    """A table. `numeric` says for each column whether it contains numbers.

    The cells may contain control characters, for example from a library's name, so the caller must remove or escape
    them before it prints the table.
    """

    title: str
    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]


def rank_text(rank: Rank) -> str:
    """Return a rank as text: "2", or "2-4" if the measurements cannot separate these ranks."""
    return str(rank.low) if rank.low == rank.high else f"{rank.low}-{rank.high}"


def libraries(compared: Compared) -> Rows:
    """Return one row per library, best first."""
    metric, request = compared.metric, compared.request
    rows = []
    for name in compared.comparison.names if compared.comparison else ():
        values = compared.values[name]
        rank, floor = compared.rank(name), compared.over_floor(name)
        rows.append(
            (
                rank_text(rank) if rank else "-",
                name,
                *(f"{value:,.2f}" for value in (median(values), min(values), max(values))),
                f"{compared.over_control(name):.3f}",
                "-" if floor is None else f"{floor:.1f}",
            )
        )
    unit = f", {metric.unit}" if metric.unit else ""
    return Rows(
        f"{request.benchmark.name}/{request.instance} version {request.benchmark.version}, "
        f"{request.scale.value} scale: {metric.name}, {_better(compared)} is better",
        ("rank", "library", f"median{unit}", "min", "max", "x control", "x null"),
        (False, False, True, True, True, True, True),
        tuple(rows),
    )


def pairs(compared: Compared) -> Rows:
    """Return one row per pair, with the p-values of three claims about its two libraries (results/stats/pairs.py)."""
    found = compared.comparison.pairs if compared.comparison else ()
    rows = (
        (
            f"{pair.first} / {pair.second}",
            f"{pair.ratio:.3f}",
            f"{pair.low:.3f}-{pair.high:.3f}",
            *(_p_text(p) for p in (pair.p_different, pair.p_apart, pair.p_equal)),
            verdict(pair, len(compared.counted), compared.margin_ratio),
        )
        for pair in found
    )
    return Rows(
        "Pairs",
        ("first / second", "ratio", "interval", "p differ", "p apart", "p equal", "result"),
        (False, True, True, True, True, True, False),
        tuple(rows),
    )


def _p_text(value: float) -> str:
    return f"< {_P_MIN}" if value < _P_MIN else f"{value:.4f}"


def verdict(pair: Pair, valid: int, margin_ratio: float = MARGIN_RATIO) -> str:
    """Return the result of a pair in words. `valid` is the number of valid blocks."""
    margin = _percent(margin_ratio)
    if pair.relation is Relation.APART:
        return f"apart: {pair.leader} leads"
    if pair.relation is Relation.EQUAL:
        return f"equal within {margin}"
    total = sessions_in_all(pair, valid)
    needs = f"about {total} sessions" if total is not None else f"over {SESSIONS_MAX} sessions"
    if total is None and valid < RANKED_SESSIONS_MIN:
        needs = "unknown number of sessions"
    if pair.relation is Relation.AHEAD:
        return f"{pair.leader} is ahead, perhaps by less than {margin} (to decide: {needs})"
    return f"undecided (to decide: {needs})"


def sessions_in_all(pair: Pair, valid: int) -> int | None:
    """Return how many sessions would probably decide an open pair, or None if --sessions does not allow so many."""
    if pair.more_sessions is None or valid + pair.more_sessions > SESSIONS_MAX:
        return None
    return valid + pair.more_sessions


def leaders(compared: Compared) -> str:
    """Return in one sentence which libraries may be the best, and whether the blocks show which of them is."""
    names = compared.comparison.names if compared.comparison else ()
    ranks = {name: compared.rank(name) for name in names}
    best = [name for name, rank in ranks.items() if rank is not None and rank.low == 1]
    what = f"{'lowest' if _better(compared) == 'less' else 'highest'} {compared.metric.name}"
    blocks = counted(len(compared.counted), "block")
    if len(best) == 1:
        return f"result: {best[0]} has the {what} of {len(names)} libraries; the {blocks} show it"
    if not best:
        return f"result: {blocks} cannot show which library has the {what}"
    together = listed(best)
    if len(best) == len(names):
        together = "both libraries" if len(best) == 2 else f"all {len(best)} libraries"  # noqa: PLR2004
    margin = _percent(compared.margin_ratio)
    return (
        f"result: {together} may have the {what}; "
        f"the {blocks} do not show a difference above {margin} between them"
    )


def conditions(compared: Compared) -> Iterator[tuple[str, str]]:
    """Yield what is needed to judge and repeat the result, each with its heading.

    The seed is that of the rehearsal, which is the first block. Its times are not used.
    """
    facts = machine_facts()
    jail = weakest(compared.blocks.jail_levels) or "not used"
    yield "machine", f"{facts['class']}, Linux {facts['kernel']}; jail: {jail}"
    yield (
        "seed",
        f"{compared.request.seeds[0]} (--seed with this number plays the same operations again)",
    )


def legend(compared: Compared) -> Iterator[str]:
    """Yield what the columns of the two tables mean, one line each."""
    if compared.comparison is None:
        return
    margin = _percent(compared.margin_ratio)
    coverage = 100 * compared.comparison.pairs[0].coverage
    yield (
        "rank: 1-2 means that the blocks do not show whether the library is first or second. The order follows the "
        "results within blocks, not the medians."
    )
    yield (
        f"median, min, max: {_metric_text(compared)}, in the valid blocks. x control: divided by the result of the "
        "control, a fixed library that runs in every block. x null: the time divided by that of a library that does "
        "nothing."
    )
    yield (
        f"ratio: {compared.metric.name} of the first divided by that of the second (Hodges-Lehmann estimate). The true "
        f"ratio is within its interval with a probability of {coverage:.1f} %."
    )
    yield (
        "p differ, p apart, p equal: the p-values of the claims that the two libraries differ at all, differ by more "
        f"than {margin} (--margin), or differ by less. A value of at most {SIGNIFICANCE:g} shows the claim. All values "
        "are Holm-corrected for the number of pairs."
    )
    yield (
        f"result: apart means that the blocks show a difference of more than {margin}. Equal means that they "
        f"exclude a difference of more than {margin}. Ahead means that they show a difference, but not whether it is "
        f"larger than {margin}. Undecided means that they show none of these."
    )


def _metric_text(compared: Compared) -> str:
    """Return the name of the metric, and what it measures."""
    name = compared.metric.name
    if name == TOTAL_MS:
        return f"{name}, the wall time of the timed phases"
    label = ranked_by(name, compared.request.benchmark.own_metrics).label
    return f"{name}, {label}"


def notes(compared: Compared) -> Iterator[str]:
    """Yield notes on how the numbers were measured, one line each."""
    blocks = compared.blocks
    drift = blocks.drift()
    if blocks.blocks:
        yield _counted_text(compared)
    if busy := why_too_busy(drift.changes):
        yield f"warning: {busy}"
    for index in drift.discarded:
        yield f"block {index + 1} is discarded: {drift.reason(index)}"
    for name, reason in compared.left_out().items():
        yield f"{name} is excluded, because it {reason}"
    if blocks.floor:
        yield (
            f"{FLOOR}, the library that does nothing, has no time, because it {blocks.floor}; so it is unknown whether "
            "the harness (the code that makes the calls) takes a large part of a library's time"
        )
    for name in compared.values:
        if compared.harness_bound(name):
            least = f"{FLOOR_RATIO_MIN:g} times the time of a library that does nothing"
            yield (
                f"{name} is bound by the harness (the code that makes the calls): its time is less than {least}. "
                "A large part of its time is the harness's own, so its true differences from other libraries are "
                "larger than shown"
            )
    if compared.comparison is None:
        yield (
            "fewer than two libraries have times: there is nothing to compare; correct the excluded libraries, or give "
            "others"
        )
    else:
        yield from _undecided(compared, compared.comparison.pairs)


def _undecided(compared: Compared, found: tuple[Pair, ...]) -> Iterator[str]:
    """Yield what it takes to decide the pairs that are still open."""
    valid = len(compared.counted)
    still_open = [pair for pair in found if pair.relation in {Relation.AHEAD, Relation.UNDECIDED}]
    if not still_open:
        return
    least = sessions_needed(len(compared.values))
    if valid < least:
        yield (
            f"{len(compared.values)} libraries need at least {least} sessions (--sessions {least}): with fewer, "
            "even a very large difference can be chance"
        )
    totals = [sessions_in_all(pair, valid) for pair in still_open]
    if any(total is not None for total in totals):
        yield (
            "The numbers of sessions in brackets are estimates for a new run, because a run cannot be continued: give "
            "the number to --sessions"
        )
    if None in totals and valid < RANKED_SESSIONS_MIN:
        # One outlier among so few sessions can make the estimate arbitrarily large.
        yield (
            f"The results of {valid} sessions scatter too much to estimate how many sessions would show which library "
            f"is better: run again with --sessions {RANKED_SESSIONS_MIN} or more, which allow this estimate"
        )
    elif None in totals:
        yield (
            f"Even the {SESSIONS_MAX} sessions that --sessions allows probably leave a pair of libraries undecided: "
            "use a larger --scale, or a quieter machine"
        )
    if any(pair.relation is Relation.UNDECIDED for pair in still_open):
        yield from _equality(compared)


def _equality(compared: Compared) -> Iterator[str]:
    """Yield what it takes on this machine to show that two equal libraries are equal."""
    margin = _percent(compared.margin_ratio)
    count = compared.sessions_for_equality()
    if count is not None and count <= SESSIONS_MAX:
        yield (
            f"On this machine, it takes about {count} blocks (--sessions {count}) to show that two equal libraries "
            f"are equal within {margin}"
        )
    elif len(compared.counted) >= VALUES_MIN:
        yield (
            f"On this machine, it takes more than the {SESSIONS_MAX} blocks that --sessions allows to show that two "
            f"equal libraries are equal within {margin}: give a larger --margin, or use a quieter machine"
        )


def _better(compared: Compared) -> str:
    return "less" if compared.metric.direction is Direction.LOWER else "more"


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):g} %"


def _counted_text(compared: Compared) -> str:
    """Return how many blocks are valid, and how noisy they were. There may be more valid blocks than were requested.

    The largest allowed change of the control's time depends on all blocks. So a later block can make an earlier block
    valid again, although the earlier one has already been repeated.
    """
    valid, wanted, ran = len(compared.counted), compared.wanted, len(compared.blocks.blocks)
    drift = compared.blocks.drift()
    change = math.exp(max(map(abs, drift.changes), default=0.0))
    text = f"{valid} of {ran} {'block is' if ran == 1 else 'blocks are'} valid"
    if ran != wanted:
        requested = "was" if wanted == 1 else "were"
        text += f" ({wanted} {requested} requested; noisy blocks are repeated)"
    text += (
        ". The control library ran twice in each block; the second result differed by a factor of "
        f"up to {change:.2f}"
    )
    if math.isfinite(drift.band):
        text += f"; a factor above {math.exp(drift.band):.2f} discards a block"
    return text
