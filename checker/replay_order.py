"""Replays a serial order that `certify --order` found, and says whether it explains every recorded result.

    python checker/replay_order.py [--serialisable] HISTORY ORDER

This program shares no code with the checker, so its user need not trust the checker. It executes the committed
transactions in the given order on a model of the contract (docs/reference/index-api.md). The order explains a recorded
result if the model gives the same result. docs/reference/history-format.md describes both files. A transaction that had
returned before another began must precede it in the order, except with --serialisable. Exit status: 0 if the order
explains all results, 1 if not, 2 if an argument or a file is unusable.
"""

from __future__ import annotations

import struct
import sys
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from pathlib import Path

HEADER = struct.Struct("<8sIIIIQQQQQ")
EVENT = struct.Struct("<BBHIQQQ")
_, OPEN, CLOSE, BEGIN, COMMIT, ABORT, GET, NEXT, INSERT, DELETE_PAIR, DELETE_KEY = range(11)
SUCCESS, DB_END, KEY_NOTFOUND, ENTRY_EXISTS, ENTRY_DNE = 0, 3, 4, 7, 8
VARCHAR, LONG = 2, 2**32 - 1

Key = int | bytes
Events = list[tuple[int, ...]]  # call, code, index, duration, key, payload, end


def mix(a: int, b: int) -> int:
    """Multiply two mixed numbers, and combine the halves of the 128-bit product by XOR."""
    product = (a ^ 0x8BB84B93962EACC9) * (b ^ 0x2D358DCCAA6C78A5)
    return (product ^ product >> 64) & 2**64 - 1


def hash_bytes(data: bytes) -> int:
    """Return the hash by which a history names a varchar key (base/hash.h)."""
    value, at = mix(len(data), 0x4B33A62ED433D4A3), 0
    while len(data) - at > 16:
        low, high = struct.unpack_from("<QQ", data, at)
        value, at = mix(low, high ^ value), at + 16
    rest = data[at:]
    if len(rest) < 4:
        return mix(rest[0] << 16 | rest[len(rest) // 2] << 8 | rest[-1] if rest else 0, value)
    width = 8 if len(rest) >= 8 else 4
    last = int.from_bytes(rest[-width:], "little")
    return mix(int.from_bytes(rest[:width], "little"), last ^ value)


def read_history(path: Path) -> tuple[list[int], list[Events], dict[int, bytes]]:
    """Return the types of the indexes, the events of each thread, and the varchar keys by their hashes."""
    data = path.read_bytes()
    magic, version, indexes, threads, cut, keys, _tables, size, *_ = HEADER.unpack_from(data)
    if (magic, version, size) != (b"KDHIST\r\n", 2, len(data)):
        raise ValueError(
            f"{path} is not a history file of version 2, or is truncated: copy it again or record another run"
        )
    if cut:
        raise ValueError(
            f"{path} lacks calls, because the log of a thread became full: record a shorter run"
        )
    at, types, names, logs = HEADER.size, [], {}, []
    for _ in range(indexes):
        kind, length = struct.unpack_from("<HH", data, at)
        types.append(kind)
        at += 4 + length
    for _ in range(keys):
        end = at + 2 + struct.unpack_from("<H", data, at)[0]
        names[hash_bytes(data[at + 2 : end])] = data[at + 2 : end]
        at = end
    counts = struct.unpack_from(f"<{threads}Q", data, at)
    at += 8 * threads + 8
    for count in counts:
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


def handles(events: Events) -> list[int]:
    """Return for each event how many handles of its index were open. The log does not say which handle a call used."""
    opened: dict[int, int] = {}
    counts = []
    for call, code, index, *_ in events:
        if call in {OPEN, CLOSE} and code == SUCCESS:
            opened[index] = max(0, opened.get(index, 0) + (1 if call == OPEN else -1))
        counts.append(opened.get(index, 0))
    return counts


@dataclass
class Cursor:
    """The position of a scan: the key of its last record, and the payloads of this key that it has returned.

    `key` is None before the first record.
    """

    key: Key | None = None
    shown: set[int] = field(default_factory=set)  # the payloads of `key` that the scan has returned
    # Payloads that the transaction inserted under `key`. The scan may leave them out.
    optional: set[int] = field(default_factory=set)
    ended: bool = False  # the last getNext returned DB_END
    loose: bool = False  # the position is unknown
    anchored: bool = (
        False  # the position was unknown before `key`, so the scan may skip payloads of `key`
    )


class Index:
    """The records of an index: the payloads of each key, and the sorted keys."""

    def __init__(self) -> None:
        self.payloads: dict[Key, set[int]] = {}
        self.keys: list[Key] = []

    def remove(self, key: Key) -> None:
        """Remove a key."""
        del self.payloads[key], self.keys[bisect_left(self.keys, key)]

    def explains(self, cursor: Cursor, event: tuple[int, int, Key, int]) -> bool:
        """Execute one call, and return whether its result is right."""
        call, code, key, payload = event
        stored = self.payloads.get(key, set())
        if call == GET:
            cursor.__init__(key, {payload} if code == SUCCESS else set())  # type: ignore[misc]
            return payload in stored if code == SUCCESS else code == KEY_NOTFOUND and not stored
        if call == NEXT:
            return self._next(cursor, code, key, payload)
        if call == INSERT:
            if code != SUCCESS or payload in stored:
                return code == ENTRY_EXISTS and payload in stored
            if not stored:
                insort(self.keys, key)
            self.payloads.setdefault(key, set()).add(payload)
            if cursor.key == key:
                cursor.shown.discard(payload)
                cursor.optional.add(payload)
            return True
        if call == DELETE_KEY:
            if stored:
                self.remove(key)
            return code == (SUCCESS if stored else KEY_NOTFOUND)
        if payload not in stored:
            return code in {ENTRY_DNE, KEY_NOTFOUND}
        stored.remove(payload)
        if not stored:
            self.remove(key)
        cursor.loose = True  # after the delete of one pair, the contract allows any position
        return code == SUCCESS

    def _next(self, cursor: Cursor, code: int, key: Key, payload: int) -> bool:
        stored = self.payloads.get(key, set()) if code == SUCCESS else set()
        if code not in {SUCCESS, DB_END} or (code == SUCCESS and payload not in stored):
            return False
        starts_again = cursor.ended and cursor.key is not None and key <= cursor.key
        if cursor.loose or (starts_again and code == SUCCESS):
            if code == SUCCESS:
                cursor.__init__(key, {payload}, anchored=True)  # type: ignore[misc]
            return True
        here = self.payloads.get(cursor.key, set()) if cursor.key is not None else set()
        left = here - cursor.shown
        owed = set() if cursor.anchored else left - cursor.optional
        place = 0 if cursor.key is None else bisect_right(self.keys, cursor.key)
        if code == DB_END:
            cursor.ended = True
            return place == len(self.keys) and not owed
        cursor.ended = False
        if key == cursor.key:
            right = payload in left
            cursor.shown.add(payload)
            return right
        right = not owed and place < len(self.keys) and self.keys[place] == key
        cursor.__init__(key, {payload})  # type: ignore[misc]
        return right


def replay(history: Path, order: Path, *, strict: bool) -> str:
    """Return what the order does not explain, or "" if it explains all results."""
    types, logs, names = read_history(history)
    head, *lines = order.read_text().splitlines()
    if head != "keydrome serial order 1":
        raise ValueError(f"{order} is not a serial order: write one with certify --order")
    left, opened = [committed(events) for events in logs], [handles(events) for events in logs]
    indexes, latest_begin = [Index() for _ in types], 0
    for line in lines:
        thread, first = (int(word) for word in line.split())
        where = f"transaction {first} of thread {thread}"
        positions = left[thread].pop(first, None) if thread < len(left) else None
        if positions is None:
            return f"{where} did not commit, or the order has it twice"
        begin, end = logs[thread][positions[0]], logs[thread][positions[-1]]
        if strict and end[6] < latest_begin:
            return f"{where} ended before an earlier transaction of the order began, so the order contradicts real time"
        if begin[3] < LONG:
            latest_begin = max(latest_begin, begin[6] - begin[3])
        cursors: dict[int, Cursor] = {}
        for position in positions:
            call, code, index, _, key, payload, _ = logs[thread][position]
            if call in {OPEN, CLOSE} or (call == NEXT and opened[thread][position] > 1):
                cursors[index] = Cursor(loose=True)
            if call & 127 < GET:
                continue
            named = names.get(key, b"") if types[index] == VARCHAR else key - (key >> 63 << 64)
            cursor = cursors.setdefault(index, Cursor())
            if not indexes[index].explains(cursor, (call & 127, code, named, payload)):
                return f"{where}: the result of event {position} is wrong in this order"
    return "the order lacks committed transactions" if any(left) else ""


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--serialisable"]
    if len(words) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        wrong = replay(Path(words[0]), Path(words[1]), strict="--serialisable" not in sys.argv)
    except (OSError, struct.error, ValueError) as error:
        print(f"replay_order: {error}", file=sys.stderr)
        sys.exit(2)
    print(wrong or "the order explains every result")
    sys.exit(1 if wrong else 0)
