"""Reads one untrusted ELF file in a process of its own. Only library.py starts this process.

Standard input is the file; standard output is the facts about it as JSON. The only argument is JSON with the fields
`allowed` and `folders` (see rules.inspect_stream). The process sets its resource limits before it reads the first byte.
A file that makes the reader use too much time or memory therefore ends this process only.
"""

from __future__ import annotations

import json
import os
import resource
import sys

from runner.inspection.limits import ADDRESS_SPACE_BYTES, CPU_SECONDS
from runner.inspection.rules import inspect_stream

# The largest result in bytes. The result for a correct library has about 2 KB.
ANSWER_BYTES_MAX = 64 << 10
_NOBODY = 65534


def _restrict() -> None:
    # At the soft limit the kernel sends SIGXCPU, which tells the parent that the CPU time was used up. At the hard
    # limit it sends SIGKILL, which can have other causes. So the soft limit is the lower one.
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
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
    if len(answer) <= ANSWER_BYTES_MAX:
        return answer
    return _refused(
        "too_many_names",
        f"the names that the library imports and exports take {len(answer):,} bytes, but at most "
        f"{ANSWER_BYTES_MAX:,} are allowed",
        "export only the ten calls of keydrome/index.h, for example with -fvisibility=hidden",
    )


def _refused(name: str, problem: str, remedy: str) -> str:
    refusal = {"name": name, "problem": problem, "remedy": remedy}
    return json.dumps({"kind": "unknown", "refusals": [refusal]})


def main() -> int:
    """Inspect standard input. The exit status is always 0, because a problem of the file is part of the result."""
    request = json.loads(sys.argv[1])
    size = os.fstat(sys.stdin.fileno()).st_size
    _restrict()
    try:
        answer = _inspect(size, request["allowed"], request["folders"])
    except Exception as error:  # malformed bytes may raise any error in the reader
        detail = f"{type(error).__name__}: {error}"[:300]
        answer = _refused(
            "malformed",
            f"the file is malformed and cannot be read ({detail})",
            "link the library again, and use the file exactly as the linker wrote it",
        )
    sys.stdout.write(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
