"""What the checks inside a timed run cost: Preliminary 1 as published, with them (ranked) and without (plain).

Every repetition runs both modes with one seed, in an order drawn from it, each in a fresh jail, so that the ratio is of
one minute. Needs root: `sudo .venv/bin/python -m tools.bench.modes`.
"""

from __future__ import annotations

import random
import sys
from statistics import median, quantiles

from tools.bench.figures import Row, parse_arguments, publish
from tools.bench.structures import LIBRARIES, run

REPETITIONS = 15
LIBRARY = "btree, rw"
MODES = {"ranked": [], "plain": ["--plain"]}


def main() -> None:
    """Measure and publish."""
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
        sys.stdout.write(f"  ranked / plain: {ratios[-1]:.3f}\n")
    low, _, high = quantiles(ratios, n=4)
    value = f"{median(ratios):.3f} (quartiles {low:.3f} to {high:.3f}, {len(ratios)} pairs)"
    rows = [Row(f"{LIBRARY}: ranked / plain, same seed", value, "at most 1.05")]
    publish("Checks inside a timed run: Preliminary 1 as published", rows, options.json)


if __name__ == "__main__":
    main()
