"""Runs the jail's tests in virtual machines, one for each way in which Linux can mount control groups."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that `import dev` finds tools/dev
