"""The process that reads one hostile ELF file: `python -m runner.elf_child`, started by elf.py only.

Standard input is the file, standard output the facts as JSON; the one argument is JSON with `allowed` and `folders`.
Limits come before the first byte is read, so that a file made to exhaust the reader ends this process and no other.
"""

from __future__ import annotations

import json
import os
import resource
import sys

from runner.elf_image import MalformedError
from runner.elf_rules import inspect_stream

CPU_SECONDS = 2
ADDRESS_SPACE_BYTES = 512 << 20
# What the caller keeps of a file; an honest library's facts have about 2 KB.
ANSWER_BYTES_MAX = 64 << 10
_NOBODY = 65534


def _restrict() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)


def _inspect(size: int, allowed: list[str], folders: list[str]) -> str:
    answer = json.dumps(inspect_stream(sys.stdin.buffer, size, allowed, folders))
    if len(answer) > ANSWER_BYTES_MAX:
        raise MalformedError(f"its names fill {len(answer):,} bytes")
    return answer


def main() -> int:
    """Inspect standard input; always 0, because what is wrong with the file is part of the answer."""
    request = json.loads(sys.argv[1])
    size = os.fstat(sys.stdin.fileno()).st_size
    _restrict()
    try:
        answer = _inspect(size, request["allowed"], request["folders"])
    except Exception as error:  # whatever bytes made to break the reader may cause
        detail = f"{type(error).__name__}: {error}"[:300]
        refusal = {
            "name": "malformed",
            "problem": f"the file contradicts itself and cannot be read ({detail})",
            "remedy": "upload the file as the linker wrote it",
        }
        answer = json.dumps({"kind": "unknown", "refusals": [refusal]})
    sys.stdout.write(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
