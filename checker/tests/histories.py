"""Reads and writes history files, which contain the recorded calls of a run.

The tests use this module to check the C++ reader and writer. It was written from docs/reference/history-format.md
alone, so it does not repeat errors of the C++ code.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MASK = (1 << 64) - 1
HEADER = struct.Struct("<8sIIIIQQQQQ")
EVENT = struct.Struct("<BBHIQQQ")
MAGIC = b"KDHIST\r\n"
CREATE, OPEN, CLOSE, BEGIN, COMMIT, ABORT, GET, NEXT, INSERT, DELETE_PAIR, DELETE_KEY = range(11)
SUCCESS, DB_DNE, DB_EXISTS, DB_END, KEY_NOTFOUND, TXN_EXISTS, TXN_DNE = range(7)
ENTRY_EXISTS, ENTRY_DNE, DEADLOCK, FAILURE = range(7, 11)
AUTO_COMMIT = 0x80
INT, VARCHAR = 1, 2


@dataclass(frozen=True)
class Call:
    """One recorded call. `begin` and `end` are times in ticks."""

    call: int
    code: int
    index: int = 0
    key: int = 0
    payload: int = 0
    begin: int = 0
    end: int = 0
    auto: bool = False
    handle: int = 0


@dataclass
class History:
    """The content of a history file."""

    indexes: list[tuple[int, str]]
    threads: list[list[Call]]
    keys: list[bytes] = field(default_factory=list)


def hash_mix(a: int, b: int) -> int:
    """Combine each number with a constant by XOR, multiply both, and combine the halves of the product by XOR."""
    product = (a ^ 0x8BB84B93962EACC9) * (b ^ 0x2D358DCCAA6C78A5)
    return (product ^ (product >> 64)) & MASK


def hash_bytes(data: bytes) -> int:
    """Return the same hash as hash_bytes() in base/hash.h."""
    value = hash_mix(len(data), 0x4B33A62ED433D4A3)
    at = 0
    while len(data) - at > 16:
        low, high = struct.unpack_from("<QQ", data, at)
        value = hash_mix(low, high ^ value)
        at += 16
    rest = data[at:]
    first = last = 0
    if len(rest) >= 4:
        width = 8 if len(rest) >= 8 else 4
        first, last = (int.from_bytes(part, "little") for part in (rest[:width], rest[-width:]))
    elif rest:
        first = rest[0] << 16 | rest[len(rest) // 2] << 8 | rest[-1]
    return hash_mix(first, last ^ value)


def read(path: Path) -> History:
    """Read a complete file. Assert its magic number, version and size, but do not verify its checksums."""
    data = path.read_bytes()
    magic, version, indexes, threads, cut, keys, _tables, size, *_clock = HEADER.unpack_from(data)
    assert (magic, version, size) == (MAGIC, 3, len(data))
    at = HEADER.size
    history = History([], [])
    for _ in range(indexes):
        kind, length = struct.unpack_from("<HH", data, at)
        history.indexes.append((kind, data[at + 4 : at + 4 + length].decode()))
        at += 4 + length
    at += 4 * cut
    for _ in range(keys):
        (length,) = struct.unpack_from("<H", data, at)
        history.keys.append(data[at + 2 : at + 2 + length])
        at += 2 + length
    sizes = struct.unpack_from(f"<{threads}Q", data, at)
    at += 8 * threads + 8
    for count in sizes:
        events = EVENT.iter_unpack(data[at : at + count * EVENT.size])
        history.threads.append([_call(event) for event in events])
        at += count * EVENT.size + 8
    return history


def _call(event: tuple[int, ...]) -> Call:
    call, code, index, duration, key, payload, end = event
    signed = key - (1 << 64) if key >> 63 else key
    auto = bool(call & AUTO_COMMIT)
    handle = call >> 4 & 7
    return Call(call & 0x0F, code, index, signed, payload, end - duration, end, auto, handle)


def write(history: History, path: Path) -> None:
    """Write a history file."""
    tables = b""
    for kind, name in history.indexes:
        tables += struct.pack("<HH", kind, len(name)) + name.encode()
    for key in history.keys:
        tables += struct.pack("<H", len(key)) + key
    for calls in history.threads:
        tables += struct.pack("<Q", len(calls))
    bodies = [b"".join(_event(call) for call in calls) for calls in history.threads]
    table_bytes = HEADER.size + len(tables) + 8
    size = table_bytes + sum(len(body) + 8 for body in bodies)
    counts = (len(history.indexes), len(history.threads), 0, len(history.keys))
    head = HEADER.pack(MAGIC, 3, *counts, table_bytes, size, 0, 10**9) + tables
    data = head + struct.pack("<Q", hash_bytes(head))
    for body in bodies:
        data += body + struct.pack("<Q", hash_bytes(body))
    path.write_bytes(data)


def _event(call: Call) -> bytes:
    kind = call.call | call.handle << 4 | (AUTO_COMMIT if call.auto else 0)
    duration = call.end - call.begin
    return EVENT.pack(
        kind, call.code, call.index, duration, call.key & MASK, call.payload, call.end
    )
