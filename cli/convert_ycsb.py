"""Implements `keydrome convert-ycsb`: turns what YCSB prints into a recorded trace (docs/reference/trace-files.md).

YCSB's binding `basic` prints a line for each operation of a workload (core/src/main/java/site/ycsb/BasicDB.java in
YCSB 0.17). The calls of an operation are those of the benchmark `ycsb`: an update deletes the key and inserts a new
record in the same transaction.
"""

from __future__ import annotations

import re
import sys
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from cli.input.values import UsageError
from runner.text import display_name, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

_GIVE_RUN = "give what `ycsb run basic` printed to standard output"
_GIVE_OUTPUT = "give what `ycsb run basic` or `ycsb load basic` printed to standard output"
_LINE_BYTES_MAX = 1 << 20
_KEY_BYTES_MAX = 128
_SHOWN_BYTES = 60  # of a wrong line, in a message
_PAYLOAD_BYTES_MAX = 100
_THREADS_MAX = 1024
# What YCSB prints besides operations: properties, lines of asterisks, and the measurements at the end.
_OTHER = (b'"', b"*", b"[")
_OPERATION = re.compile(
    rb"(?P<what>READ|SCAN|UPDATE|INSERT|DELETE) (?P<table>\S+) (?P<key>\S+)"
    rb"(?: (?P<count>[0-9]{1,9}))?(?: \[ (?P<values>.*)\])?"
)
# Keydrome's own checks use keys that begin with this byte, so the keys of a trace must not.
_FIRST_OF_CHECKS = b"!"
_ESCAPED = re.compile(rb"[\x00-\x20%\x7f]")


@dataclass(frozen=True, slots=True)
class _Operation:
    what: bytes
    table: bytes
    key: bytes
    count: int  # records that a scan reads
    payload: bytes

    def thread(self, threads: int) -> int:
        """Return the thread of the operation. The operations of a key belong to one thread, so they stay in order."""
        return zlib.crc32(self.key) % threads

    def calls(self) -> list[bytes]:
        """Return the lines of the operation's transaction, without the number of the thread that begins each line."""
        place = self.table + b" " + _escaped(self.key)
        insert = b"insert " + place + (b" " + _escaped(self.payload) if self.payload else b"")
        inside = {
            b"READ": [b"get " + place],
            b"SCAN": [b"get " + place, b"next " + self.table + b" %d" % (self.count - 1)],
            b"UPDATE": [b"delete " + place, insert],
            b"INSERT": [insert],
            b"DELETE": [b"delete " + place],
        }[self.what]
        if self.what == b"SCAN" and self.count <= 1:
            inside.pop()
        return [b"begin", *inside, b"commit"]


def run(options: argparse.Namespace) -> int:
    """Run the command; returns 0, or raises UsageError before anything is written."""
    if options.threads > _THREADS_MAX:
        raise UsageError(
            f"--threads {options.threads}: a trace has at most {_THREADS_MAX:,} threads: give a smaller number"
        )
    tables: dict[bytes, None] = {}  # in order of appearance
    used: set[int] = set()
    if options.load is not None:
        for operation in _loaded(options.load):
            tables[operation.table] = None
    for operation in _operations(options.printed):
        tables[operation.table] = None
        used.add(operation.thread(options.threads))
    if not used:
        raise UsageError(f"{options.printed}: no line is an operation of YCSB: {_GIVE_RUN}")
    # A trace numbers its threads without gaps.
    numbers = {thread: number for number, thread in enumerate(sorted(used))}
    out = sys.stdout.buffer
    out.write(b"keydrome trace 1\n")
    for table in tables:
        out.write(b"index " + table + b" varchar\n")
    if options.load is not None:
        _write_load(options.load, out)
    for operation in _operations(options.printed):
        start = b"%d " % numbers[operation.thread(options.threads)]
        out.writelines(start + call + b"\n" for call in operation.calls())
    out.flush()
    return 0


def _loaded(path: Path) -> Iterator[_Operation]:
    """Yield the operations of a load, which only inserts. Raises UsageError otherwise."""
    for number, operation in _numbered(path):
        if operation.what != b"INSERT":
            raise _fault(
                path,
                number,
                f"a load only inserts, but this line has the operation {operation.what.decode()}: give the output of "
                "`ycsb load basic` to --load",
            )
        yield operation


def _write_load(path: Path, out: BinaryIO) -> None:
    for operation in _loaded(path):
        [insert] = operation.calls()[1:-1]
        out.write(b"load " + insert.removeprefix(b"insert ") + b"\n")


def _operations(path: Path) -> Iterator[_Operation]:
    return (operation for _, operation in _numbered(path))


def _numbered(path: Path) -> Iterator[tuple[int, _Operation]]:
    """Yield the operations of a file with the numbers of their lines. Raises UsageError for a line that is unknown."""
    try:
        opened = path.open("rb")
    except OSError as error:
        raise UsageError(
            f"{path}: cannot read the file ({error.strerror}): {_GIVE_OUTPUT}"
        ) from error
    with opened as file:
        number = 0
        while line := file.readline(_LINE_BYTES_MAX):
            number += 1
            if len(line) == _LINE_BYTES_MAX:
                raise _fault(
                    path,
                    number,
                    f"the line has {_LINE_BYTES_MAX:,} bytes or more, but must have fewer: let YCSB write shorter "
                    "values, for example with -p fieldlength=100",
                )
            line = line.rstrip(b"\r\n")
            if line and not line.startswith(_OTHER):
                yield number, _parsed(path, number, line)


def _parsed(path: Path, number: int, line: bytes) -> _Operation:
    match = _OPERATION.fullmatch(line)
    if match is None or (match["what"] == b"SCAN") != (match["count"] is not None):
        raise _fault(
            path,
            number,
            f"`ycsb run basic` and `ycsb load basic` print no line such as {_shown(line)}: redirect the whole "
            "standard output of one of these commands, and not its standard error",
        )
    table, key = match["table"], match["key"]
    if not re.fullmatch(rb"[A-Za-z0-9_]{1,15}", table):
        raise _fault(
            path,
            number,
            f"the table {printable(table.decode(errors='replace'))} becomes an index, whose name must have 1 to 15 "
            "letters, digits and underscores: give YCSB another table with -p table=NAME",
        )
    if len(key) > _KEY_BYTES_MAX:
        raise _fault(
            path,
            number,
            f"the key has {len(key):,} bytes, but at most {_KEY_BYTES_MAX} are allowed: use shorter keys, "
            "for example with a smaller -p zeropadding=N",
        )
    if key.startswith(_FIRST_OF_CHECKS):
        raise _fault(
            path,
            number,
            "the key begins with !, which is reserved for the keys of Keydrome's own checks: use other keys",
        )
    payload = (match["values"] or b"").rstrip()[:_PAYLOAD_BYTES_MAX]
    if b"\0" in line:
        raise _fault(
            path,
            number,
            "a key or value contains a zero byte, which ends a string in C: use keys and values without zero bytes",
        )
    return _Operation(match["what"], table, key, int(match["count"] or 0), payload)


def _fault(path: Path, number: int, what: str) -> UsageError:
    return UsageError(f"{display_name(path.name)}, line {number}: {what}")


def _shown(line: bytes) -> str:
    """Return the beginning of a line in quotes, for a message."""
    return printable(repr(line[:_SHOWN_BYTES].decode(errors="replace")))


def _escaped(text: bytes) -> bytes:
    return _ESCAPED.sub(lambda match: b"%%%02X" % match[0][0], text)
