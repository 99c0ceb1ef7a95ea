"""Measures the cost of the checks inside a timed run.

A timed run contains extra operations that only check the library. This program runs preliminary1, an instance of the
benchmark sigmod2009, at paper scale (full size): with these checks (mode "ranked") and without them (mode "plain").
Every repetition runs both modes with one seed, in random order, each in a fresh jail (sandbox). So the two times of a
ratio are measured within a minute, under the same noise of the machine. Needs root:
`sudo .venv/bin/python -m tools.bench.modes`.
"""

from __future__ import annotations

import random
import sys
from statistics import median, quantiles

from tools.bench.figures import Row, parse_arguments, publish
from tools.bench.structures import LIBRARIES, run

REPETITIONS = 15
AT_MOST = 1.05
LIBRARY = "btree, rw"
MODES = {"ranked": [], "plain": ["--plain"]}


def main() -> None:
    """Measure the ratio ranked / plain, and publish its median and quartiles."""
    options = parse_arguments(__doc__, REPETITIONS)
    ratios = []
    for repetition in range(options.repetitions):
        order = list(MODES)
        random.Random(repetition).shuffle(order)  # noqa: S311 - an order, not a secret
        times = {
            mode: run([*LIBRARIES[LIBRARY], *MODES[mode]], f"{repetition + 1:016x}")["total_ms"]
            for mode in order
        }
        ratios.append(times["ranked"] / times["plain"])
        sys.stdout.write(f"  time with the checks / time without them: {ratios[-1]:.3f}\n")
    low, _, high = quantiles(ratios, n=4)
    value = f"{median(ratios):.3f} (quartiles {low:.3f} to {high:.3f}, {len(ratios)} pairs)"
    figure = f"{LIBRARY}: time with the checks / time without them, same seed"
    rows = [Row(figure, value, f"at most {AT_MOST}", measured=median(ratios), at_most=AT_MOST)]
    publish("Checks inside a timed run: Preliminary 1 as published", rows, options.json)


if __name__ == "__main__":
    main()
