"""Checks that no C or C++ function has more than 15 branches, except functions with a comment `LIMIT: reason`.

The library lizard counts the branches: one for the function itself, and one for each condition, loop, handler and
boolean operator. A switch is one branch, even with many cases. Python functions have stricter limits (ruff's C901 and
PLR0912, in pyproject.toml). This check is not part of check_tree.py, because check_tree.py uses only the standard
library.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import lizard
from tree.files import tracked
from tree.sizes import has_reason

if TYPE_CHECKING:
    from tree.files import Tree

ROOT = Path(__file__).resolve().parents[1]
BRANCHES_MAX = 15


def check_branches(tree: Tree) -> list[str]:
    """Return the functions with too many branches."""
    analyze = lizard.FileAnalyzer(lizard.get_extensions(["modified"])).analyze_source_code
    complaints = []
    for name in tree.having(".c", ".cc", ".h"):
        text = tree.text(name)
        for function in analyze(name, text).function_list:
            branches = function.cyclomatic_complexity
            if branches > BRANCHES_MAX and not has_reason(text.splitlines(), function.start_line):
                where = f"{name}:{function.start_line}"
                complaints.append(
                    f"{where}: the function {function.name} has {branches} branches, but at most "
                    f"{BRANCHES_MAX} are allowed: split it, or write `LIMIT: reason` above it"
                )
    return complaints


def main() -> int:
    """Check every C and C++ file; print every complaint."""
    complaints = check_branches(tracked(ROOT))
    print("\n".join(complaints) if complaints else "every function has at most 15 branches")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
