"""Runs the tests of the jail (the sandbox) in virtual machines, one for each way to mount Linux control groups."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that `import dev` finds tools/dev
