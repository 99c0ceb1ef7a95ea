"""Lists and runs the linters and formatters, for `./dev lint`, `./dev format` and `./dev test`."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from dev import build, packages, python_env
from dev.paths import ROOT, VENV
from dev.steps import StepError, become_root, run

BIN = VENV / "bin"


@dataclass(frozen=True)
class Check:
    """One linter: its name, its command, and what to do when it complains."""

    name: str
    command: list[str]
    hint: str


def _tracked(*suffixes: str) -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [name for name in listing if name.endswith(suffixes) and (ROOT / name).exists()]


def _native() -> list[str]:
    return _tracked(".c", ".cc", ".h")


def _translation_units() -> list[str]:
    """Return the sources that clang-tidy checks: all that the preset `tidy` compiles, except tests.

    Tests are left out, because faulty libraries break the rules on purpose.
    """
    build.build("tidy")
    database = (ROOT / "build" / "tidy" / "compile_commands.json").read_text()
    names = _tracked(".c", ".cc")
    return [n for n in names if f'"{ROOT / n}"' in database and "tests" not in n.split("/")]


def quick_checks() -> list[Check]:
    """Return the checks that need no build."""
    edit = "correct what the checker's output above names"
    reformat = "run ./dev format"
    return [
        Check("ruff", [str(BIN / "ruff"), "check", "."], edit),
        Check("ruff-format", [str(BIN / "ruff"), "format", "--check", "."], reformat),
        Check("mypy", [str(BIN / "mypy")], edit),
        Check(
            "import-linter",
            [str(BIN / "lint-imports")],
            "remove the import; ARCHITECTURE.md says which other top-level folders a top-level folder may import",
        ),
        Check(
            "clang-format",
            [str(BIN / "clang-format"), "--dry-run", "--Werror", *_native()],
            reformat,
        ),
        Check("djlint", [str(BIN / "djlint"), "--lint", "--quiet", "web/jinja2"], edit),
        Check(
            "codespell",
            [str(BIN / "codespell"), *_tracked(".md", ".py", ".h", ".cc", ".c", ".html")],
            edit,
        ),
        Check("tree", [str(BIN / "python"), "tools/check_tree.py"], edit),
        Check("branches", [str(BIN / "python"), "tools/check_branches.py"], edit),
    ]


def tidy_check() -> Check:
    """Return the check that runs clang-tidy over all sources except tests."""
    script = [str(BIN / "python"), "tools/run_clang_tidy.py", *_translation_units()]
    return Check(
        "clang-tidy",
        script,
        "correct what the checker's output above names; .clang-tidy explains the checks",
    )


def lint() -> int:
    """Run every check, and print all failures; return 0 if there is none."""
    become_root()
    packages.install(packages.BUILD)
    python_env.ensure()
    build.build("release")
    failed = 0
    for check in [*quick_checks(), tidy_check()]:
        try:
            run(check.command, log=f"lint-{check.name}", hint=check.hint)
            print(f"  ok      {check.name}")
        except StepError as error:
            failed += 1
            print(f"  FAILED  {check.name}\n{error}")
    return 1 if failed else 0


def format_all() -> int:
    """Format all Python, C and C++ sources in place."""
    python_env.ensure()
    hint = "correct the error that the message above names"
    run(
        [str(BIN / "ruff"), "check", "--fix-only", "--select", "I", "."],
        log="format-imports",
        hint=hint,
    )
    run([str(BIN / "ruff"), "format", "."], log="format-python", hint=hint)
    run([str(BIN / "clang-format"), "-i", *_native()], log="format-native", hint=hint)
    return 0
