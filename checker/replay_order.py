"""Replays a serial order that `certify --order` found, and says whether it explains every recorded result.

    python checker/replay_order.py [--serialisable] HISTORY ORDER

It shares no code with the checker. It executes the committed transactions in this order on a model of the contract
(docs/reference/index-api.md). If T1 had returned before T2 began, T1 must precede T2, except with --serialisable. For
the files, see docs/reference/history-format.md. Exit status: 0 explained, 1 not explained, 2 unusable argument or file.
"""

from __future__ import annotations

import re
import struct
import sys
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from pathlib import Path

HEADER = struct.Struct("<8sIIIIQQQQQ")
EVENT = struct.Struct("<BBHIQQQ")
_, OPEN, CLOSE, BEGIN, COMMIT, ABORT, GET, NEXT, INSERT, DELETE_PAIR, DELETE_KEY = range(11)
SUCCESS, DB_END, KEY_NOTFOUND, ENTRY_EXISTS, ENTRY_DNE = 0, 3, 4, 7, 8
VARCHAR, LONG, MANY_HANDLES = 2, 2**32 - 1, 7
Key = int | bytes
Events = list[tuple[int, ...]]  # call + 16 * handle, code, index, duration, key, payload, end


def mix(a: int, b: int) -> int:
    """Combine each number with a constant by XOR, multiply both, and combine the halves of the product by XOR."""
    product = (a ^ 0x8BB84B93962EACC9) * (b ^ 0x2D358DCCAA6C78A5)
    return (product ^ product >> 64) & 2**64 - 1


def hash_bytes(data: bytes) -> int:
    """Return the hash by which a history names a varchar key (base/hash.h)."""
    value, rest = mix(len(data), 0x4B33A62ED433D4A3), data
    while len(rest) > 16:
        low, high = struct.unpack_from("<QQ", rest)
        value, rest = mix(low, high ^ value), rest[16:]
    if len(rest) < 4:
        return mix(rest[0] << 16 | rest[len(rest) // 2] << 8 | rest[-1] if rest else 0, value)
    width = 8 if len(rest) >= 8 else 4
    low, high = (int.from_bytes(part, "little") for part in (rest[:width], rest[-width:]))
    return mix(low, high ^ value)


def read_history(path: Path) -> tuple[list[int], list[Events], dict[int, bytes]]:
    """Return the types of the indexes, the events of each thread, and the varchar keys by their hashes."""
    data = path.read_bytes().ljust(HEADER.size, b"\0")  # a short file is damaged, too
    magic, version, indexes, threads, cut, keys, tables, size, *_ = HEADER.unpack_from(data)
    if (magic, version, size) != (b"KDHIST\r\n", 3, len(data)):
        why = "copy or record it again" if magic == b"KDHIST\r\n" else "give HISTORY before ORDER"
        raise ValueError(f"{path} is damaged, or is not a history file of version 3: {why}")
    if cut:
        raise ValueError(f"{path} lacks calls, because a log became full: record a shorter run")
    at, types, names, logs = HEADER.size, [], {}, []
    for _ in range(indexes):
        kind, length = struct.unpack_from("<HH", data, at)
        types.append(kind)
        at += 4 + length
    for _ in range(keys):
        end = at + 2 + struct.unpack_from("<H", data, at)[0]
        names[hash_bytes(data[at + 2 : end])] = data[at + 2 : end]
        at = end
    at = tables  # the tables end with the number of events of each thread, and a checksum
    for count in struct.unpack_from(f"<{threads}Q", data, at - 8 * threads - 8):
        logs.append(list(EVENT.iter_unpack(data[at : at + count * EVENT.size])))
        at += count * EVENT.size + 8
    return types, logs, names


def committed(events: Events) -> dict[int, list[int]]:
    """Map the position of each committed transaction's first event to the positions of all its events."""
    found, current = {}, []
    for position, (call, code, *_) in enumerate(events):
        if call >= 128:  # auto-commit: a transaction of its own
            if code in {SUCCESS, DB_END, KEY_NOTFOUND, ENTRY_EXISTS, ENTRY_DNE}:
                found[position] = [position]
        elif call == BEGIN:
            current = [position] if code == SUCCESS else []
        elif current:
            current.append(position)
            if call == COMMIT and code == SUCCESS:
                found[current[0]] = current
            current = [] if call in {COMMIT, ABORT} else current
    return found


@dataclass
class Cursor:
    """The position of a scan: after the key of its last record."""

    key: Key | None = None  # None: before the first record
    shown: set[int] = field(default_factory=set)  # payloads of `key` that the scan has returned
    optional: set[int] = field(default_factory=set)  # inserts under `key` that a scan may leave out
    ended: bool = False  # the last getNext returned DB_END
    loose: bool = False  # the position is unknown
    anchored: bool = False  # unknown which payloads of `key` were returned, so any may be left out


class Index:
    """The records of an index: the payloads of each key, and the sorted keys."""

    def __init__(self) -> None:
        self.payloads: dict[Key | None, set[int]] = {}
        self.keys: list[Key] = []
        self.cursors: list[Cursor] = []  # by handle, in the current transaction

    def explains(self, handle: int, event: tuple[int, int, Key, int]) -> bool:
        """Execute one call, and return whether its result is right."""
        call, code, key, payload = event
        cursor, stored = self.cursors[handle], self.payloads.get(key, set())
        if call == GET:
            cursor.__init__(key, {payload} if code == SUCCESS else set())  # type: ignore[misc]
            return payload in stored if code == SUCCESS else code == KEY_NOTFOUND and not stored
        if call == NEXT:
            exists = code == SUCCESS and payload in stored
            return (exists or code == DB_END) and self._next(cursor, code, key, payload)
        if call == INSERT:
            if code != SUCCESS or payload in stored:
                return code == ENTRY_EXISTS and payload in stored
            if not stored:
                insort(self.keys, key)
            self.payloads.setdefault(key, set()).add(payload)
            for scan in (one for one in self.cursors if one.key == key):
                scan.shown.discard(payload)
                scan.optional.add(payload)
            return True
        removed = set(stored) if call == DELETE_KEY else stored & {payload}
        if not removed:
            return code == KEY_NOTFOUND or (code == ENTRY_DNE and call == DELETE_PAIR)
        stored -= removed
        if not stored:
            del self.payloads[key], self.keys[bisect_left(self.keys, key)]
        for scan in self.cursors:
            scan.loose |= call == DELETE_PAIR  # then the contract lets a scan continue anywhere
        return code == SUCCESS

    def _next(self, cursor: Cursor, code: int, key: Key, payload: int) -> bool:
        left = self.payloads.get(cursor.key, set()) - cursor.shown
        owed = set() if cursor.anchored else left - cursor.optional
        place = 0 if cursor.key is None else bisect_right(self.keys, cursor.key)
        if code == DB_END:
            cursor.ended = True
            return cursor.loose or (place == len(self.keys) and not owed)
        if cursor.loose or (cursor.ended and cursor.key is not None and key <= cursor.key):
            continues = key == cursor.key and payload in cursor.optional - cursor.shown
            cursor.__init__(key, {payload}, anchored=cursor.loose or continues)  # type: ignore[misc]
            return cursor.anchored or self.keys[0] == key
        if key == cursor.key:
            cursor.shown.add(payload)
            return payload in left
        cursor.__init__(key, {payload})  # type: ignore[misc]
        return not owed and self.keys[place : place + 1] == [key]


def replay(history: Path, order: Path, *, strict: bool, shared: bool) -> str:
    """Return what the order does not explain, or "". With `shared`, the handles of an index share a cursor."""
    types, logs, names = read_history(history)
    text = order.read_text(errors="replace")
    if not re.fullmatch(r"keydrome serial order 1\n(\d+ \d+\n)*", text):
        raise ValueError(f"{order} contains no serial order: certify --order FILE writes one")
    left, indexes, latest = [committed(log) for log in logs], [Index() for _ in types], (0, "")
    for thread, first in (map(int, line.split()) for line in text.splitlines()[1:]):
        where = f"the transaction of thread {thread} that begins at event {first}"
        events = left[thread].pop(first, None) if thread < len(left) else None
        if events is None:
            return f"{where} is not committed in the history, or the order has it twice: pass files of one certify run"
        begin, end = logs[thread][first], logs[thread][events[-1]]
        if strict and end[6] < latest[0]:
            return f"{where} comes after {latest[1]}, but had ended before that one began: real time forbids this order"
        latest = max(latest, (begin[6] - begin[3] if begin[3] < LONG else 0, where))
        for number in {logs[thread][position][2] for position in events}:
            indexes[number].cursors = [Cursor() for _ in range(1 if shared else MANY_HANDLES + 1)]
        for position in events:
            call, code, number, _, key, payload, _ = logs[thread][position]
            kind, handle, index = call & 15, 0 if shared else call >> 4 & 7, indexes[number]
            if kind in {OPEN, CLOSE} or handle == MANY_HANDLES:
                index.cursors = [Cursor(loose=True) for _ in index.cursors]
            named = names.get(key, b"") if types[number] == VARCHAR else key - (key >> 63 << 64)
            if kind >= GET and not index.explains(handle, (kind, code, named, payload)):
                return f"{where}: the result of event {position} is wrong in this order"
    return f"the order lacks committed transactions: {sum(map(len, left))}" if any(left) else ""


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--serialisable"]
    if len(words) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        strict = "--serialisable" not in sys.argv
        tries = (replay(*map(Path, words), strict=strict, shared=one) for one in (True, False))
        wrong = next(tries) and next(tries)
    except (OSError, struct.error, ValueError) as error:
        why = "the history is damaged: copy it again" if isinstance(error, struct.error) else error
        print(f"replay_order: {words[0]}, {words[1]}: {why}", file=sys.stderr)
        sys.exit(2)
    print(wrong or "the order explains every result")
    sys.exit(1 if wrong else 0)
