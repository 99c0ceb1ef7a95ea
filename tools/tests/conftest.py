"""Puts tools/ on the import path, as ./dev does, so that the tests can import its packages `dev` and `tree`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
