"""Measures the cost of the checks inside a timed run.

A timed run contains extra operations that only check the library. This program runs preliminary1, an instance of the
benchmark sigmod2009, at paper scale (full size): with these checks (mode "ranked") and without them (mode "plain").
Every repetition runs both modes with one seed, in random order, each in a fresh jail (sandbox). So the two times of a
ratio are measured within a minute, under the same noise of the machine. Needs root:
`sudo .venv/bin/python -m tools.bench.modes`.
"""

from __future__ import annotations

from statistics import median, quantiles

from tools.bench.figures import Row, parse_arguments, publish
from tools.bench.reference_libraries import Session, in_turn

REPETITIONS = 15
AT_MOST = 1.05
LIBRARY = "btree, rw"


def main() -> None:
    """Measure the ratio ranked / plain, and publish its median and quartiles."""
    options = parse_arguments(__doc__, REPETITIONS)
    found = in_turn(
        {"ranked": Session(LIBRARY), "plain": Session(LIBRARY, plain=True)}, options.repetitions
    )
    ratios = [
        ranked["total_ms"] / plain["total_ms"]
        for ranked, plain in zip(found["ranked"], found["plain"], strict=True)
    ]
    low, _, high = quantiles(ratios, n=4)
    value = f"{median(ratios):.3f} (quartiles {low:.3f} to {high:.3f}, {len(ratios)} pairs)"
    figure = f"{LIBRARY}: time with the checks / time without them, same seed"
    rows = [Row(figure, value, f"at most {AT_MOST}", measured=median(ratios), at_most=AT_MOST)]
    publish("Checks inside a timed run: Preliminary 1 as published", rows, options.json)


if __name__ == "__main__":
    main()
