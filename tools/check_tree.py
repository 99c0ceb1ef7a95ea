"""Checks the repository's own rules, which no linter knows: dependencies, sizes, dead files, wording.

Each rule is a function in tools/tree/ that returns a list of complaints, one line each. `python tools/check_tree.py`
runs all of them. The code uses only the standard library. The idea comes from TigerBeetle's tidy.zig.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tree.architecture import check_architecture
from tree.dead_files import check_headers, check_modules, check_sources
from tree.directions import check_directions
from tree.files import tracked
from tree.language import check_language
from tree.named_files import check_named_files
from tree.open_ends import check_open_ends
from tree.prefetches import check_prefetches
from tree.sizes import (
    check_comment_lines,
    check_files,
    check_folders,
    check_native_classes,
    check_python,
    check_readmes,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree.files import Tree

ROOT = Path(__file__).resolve().parents[1]
CHECKS: tuple[Callable[[Tree], list[str]], ...] = (
    check_readmes,
    check_directions,
    check_architecture,
    check_files,
    check_comment_lines,
    check_folders,
    check_native_classes,
    check_python,
    check_open_ends,
    check_prefetches,
    check_headers,
    check_sources,
    check_modules,
    check_named_files,
    check_language,
)


def main() -> int:
    """Check the whole tree; print every complaint."""
    tree = tracked(ROOT)
    complaints = [complaint for check in CHECKS for complaint in check(tree)]
    print("\n".join(complaints) if complaints else "the tree follows the house rules")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
