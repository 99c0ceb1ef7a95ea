"""Builds and runs the C programs of witnesses (calls that prove a fault), with faulty and with correct libraries."""

from __future__ import annotations

import json
import subprocess
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp

from runner.catalogue import isolating_configurations, load_configuration
from runner.settings import load_settings
from tests.binaries import built_settings, library

ROOT = Path(__file__).resolve().parent.parent
RUN_SECONDS = 60
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pthread", "-I", str(ROOT / "api/include")]
# A C source that configures the runtime, which adds transactions to a data structure, when the program starts. Linked
# with the runtime, it makes a correct library.
CONFIGURED = """#include <stdio.h>
#include <stdlib.h>

#include "keydrome/extensions.h"

static const char setup[] = %s;

__attribute__((constructor)) static void configure(void) {
  char reason[1000] = "";
  if (keydrome_configure(setup, reason, sizeof reason) == 0) return;
  fprintf(stderr, "%%s\\n", reason);
  abort();
}
"""


def _c_string(text: str) -> str:
    return json.dumps(text)


@lru_cache(maxsize=1)
def right_libraries() -> dict[str, list[Path]]:
    """Return what to link for each correct library: global_lock, and the B+-tree under each concurrency control."""
    settings = load_settings()
    built = built_settings()
    folder = Path(mkdtemp(prefix="keydrome-right-"))
    runtime = library(built, "runtime", "runtime")
    found = {"global_lock": [library(built, "indexes", "global_lock")]}
    for name in isolating_configurations(settings):
        setup = {
            "structure": str(library(built, "structures", "btree")),
            "configuration": load_configuration(settings, name),
        }
        source, linked = folder / f"{name}.c", folder / f"{name}.so"
        source.write_text(CONFIGURED % _c_string(json.dumps(setup)))
        subprocess.run(
            ["cc", *FLAGS, "-shared", "-fPIC", str(source), str(runtime), "-o", str(linked)],
            check=True,
        )
        found[f"btree-{name}"] = [linked, runtime]
    return found


@lru_cache(maxsize=1)
def _compiled(program: str, source: Path) -> Path:
    """Compile the program. The same program is usually linked with several libraries, one after the other."""
    source.write_text(program)
    compiled = source.with_suffix(".o")
    subprocess.run(["cc", *FLAGS, "-c", str(source), "-o", str(compiled)], check=True)
    return compiled


def played(program: str, linked: list[Path], folder: Path) -> tuple[int, str]:
    """Build the program with a library; return its exit status and output."""
    binary = folder / "program"
    compiled = _compiled(program, folder / "program.c")
    command = ["cc", "-pthread", str(compiled), *map(str, linked), "-o", str(binary)]
    subprocess.run(command, check=True)
    # Keys and payloads may have any bytes, and the program prints them.
    done = subprocess.run(
        [binary],
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=RUN_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def wrongly_refused(program: str, folder: Path) -> list[str]:
    """Return the correct libraries for which the program does not end with 0, with what it said."""
    found = []
    for name, linked in right_libraries().items():
        status, said = played(program, linked, folder)
        if status != 0:
            found.append(f"{name}: status {status}\n{said}")
    return found
