"""Runs the jail's tests in a virtual machine for each way a machine can have control groups."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # ./dev's modules are `dev.*`
