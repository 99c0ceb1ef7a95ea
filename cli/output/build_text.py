"""Writes commands that build a library with a sanitizer, and the C program of a witness.

A witness is the proof of a fault. Its C program makes the calls that show the fault, without Keydrome.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from cli.output.debug_text import keydrome_command

if TYPE_CHECKING:
    from collections.abc import Iterable

_ROOT = Path(__file__).resolve().parents[2]
# The command in the first lines of a C program, with the names that stand for the user's files.
_COMPILE = re.compile(
    r"cc (-std=c99[^\n]*?) -I api/include (\S+\.c) \./LIBRARY\.so -o (\S+) && \./\3"
)
# The words before the command that explain these names.
_NAMES = re.compile(r", with (?:this file as \S+ and )?your library as LIBRARY\.so:")


def is_cpp(needed: Iterable[str]) -> bool:
    """Return whether a library is written in C++. `needed` has the names of the shared objects that it needs."""
    return any(name.startswith(("libstdc++", "libc++")) for name in needed)


def include_folder() -> str:
    """Return the folder of the headers as a command can name it here."""
    return _here("api/include")


def contract_test(given: str) -> str:
    """Return the command that tests the functions of a structure; `given` names it as on the command line."""
    file = shlex.split(given)[0].partition(":")[0]
    program = _here("build/release/tests/structure_contract_test")
    return f"{program} --library {shlex.quote(file)}"


def _here(path: str) -> str:
    """Return a path of this clone as a command can name it in the current folder."""
    return shlex.quote(path if Path.cwd() == _ROOT else str(_ROOT / path))


def sanitizer_build(given: str, sanitizer: str, *, cpp: bool) -> str:
    """Return the command that builds the library with -fsanitize=SANITIZER. SOURCES stands for its source files.

    `given` names the library as on the command line.
    """
    compiler = "c++ -std=c++20" if cpp else "cc"
    return (
        f"{compiler} -g -O1 -shared -fPIC -fsanitize={sanitizer} -I {include_folder()} SOURCES "
        f"-o {sanitized(given, sanitizer)}"
    )


def sanitized(given: str, sanitizer: str) -> str:
    """Return the name of the file that sanitizer_build() writes, for a library mine.so: ./mine-asan.so."""
    stem = given.split(maxsplit=1)[0].rpartition("/")[2].partition(":")[0].removesuffix(".so")
    return f"./{stem}-{sanitizer[0]}san.so"


def sanitizer_session(given: str, sanitizer: str, session: str) -> str:
    """Return the command that plays a session with the sanitized library. `session` has the options that name it."""
    configuration = given.partition(" ")[2]
    return " ".join(
        filter(
            None,
            [keydrome_command(), "debug", sanitized(given, sanitizer), configuration, session],
        )
    )


def with_sanitizer(given: str, sanitizer: str, session: str, *, cpp: bool) -> str:
    """Return a request to build the library with a sanitizer and to play a session, with both commands."""
    sources = (
        "SOURCES: your source files"
        if cpp
        else "SOURCES: your source files; for C++, replace cc by c++"
    )
    return (
        f"build the library with `{sanitizer_build(given, sanitizer, cpp=cpp)}` ({sources}), then run "
        f"`{sanitizer_session(given, sanitizer, session)}`"
    )


def with_paths(program: str, source: Path, library: Path) -> str:
    """Return a C program whose first lines contain a compile command with absolute paths, to be copied.

    `source` is the file of the program.
    """
    built = source.with_suffix("")

    def command(found: re.Match[str]) -> str:
        text = (
            f"cc {found[1]} -I {shlex.quote(str(_ROOT / 'api/include'))} {shlex.quote(str(source))} "
            f"{shlex.quote(str(library))} -o {shlex.quote(str(built))} && {shlex.quote(str(built))}"
        )
        # The command is in a comment, which a path must not end.
        return found[0] if "*/" in text else text

    pathed = _COMPILE.sub(command, program, count=1)
    if pathed == program:
        return program
    return _NAMES.sub(" (in another place, change the paths):", pathed, count=1)


def compile_command(program: str) -> str:
    """Return the compile command of a C program, without the command that runs it, or an empty text."""
    found = re.search(r"^ \*\s+(cc -std=c99 .*?) && ", program, re.MULTILINE)
    return "" if found is None else found[1]
