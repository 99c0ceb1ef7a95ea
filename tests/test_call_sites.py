"""Tests that the player, the program that calls a library, calls each of the ten functions at exactly one place.

The test reads the machine code. A library sees the address to which its function returns. If checks called the library
at another place than the workload, a library could work only for the checks (tests/faulty/skips_by_caller.cc tries it).
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("KEYDROME_BUILD", ROOT / "build" / "release"))
LOOP = "keydrome::player::Interpreter::run("
FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INDIRECT_CALL = re.compile(r"^\s+[0-9a-f]+:\s+(?:bnd |notrack )*call\s+\*")
# A jump through a register stays in the function (a switch). A jump through memory can leave the function.
INDIRECT_TAIL_CALL = re.compile(r"^\s+[0-9a-f]+:\s+(?:bnd |notrack )*jmp\s+\*[^%]")
POINTERS = 10  # function pointers in IndexApi


def indirect_calls(program: str) -> dict[str, list[str]]:
    """Return, for each function of the interpreter, its indirect calls and its jumps that can leave the function."""
    listing = subprocess.run(
        ["objdump", "--disassemble", "--demangle", "--no-show-raw-insn", BUILD / "bin" / program],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found: dict[str, list[str]] = {}
    function = ""
    for line in listing.splitlines():
        if header := FUNCTION.match(line):
            function = header[1]
        elif function.startswith("keydrome::player::Interpreter") and (
            INDIRECT_CALL.match(line) or INDIRECT_TAIL_CALL.match(line)
        ):
            found.setdefault(function, []).append(line.split("*")[-1].strip())
    return found


@pytest.mark.parametrize("program", ["player", "driver"])
def test_each_function_has_one_call_site(program: str) -> None:
    found = indirect_calls(program)
    assert [name for name in found if not name.startswith(LOOP)] == []
    assert len(found) == 1, (
        f"{len(found)} functions make calls through a table instead of 1: the compiler has removed "
        "or split Interpreter::run; adapt LOOP in this test"
    )
    calls = next(iter(found.values()))
    # Each call uses a different entry of the table of functions, from memory or from a register that has its value.
    offsets = [call for call in calls if "(" in call]
    assert len(calls) == POINTERS, calls
    assert len(set(offsets)) == len(offsets), calls
