"""Decides independently of the C++ checker whether a small history is right.

It tries every serial order of the transactions on its own model of contract A, the ten functions of an index library.
It was written from docs/reference/index-api.md and docs/reference/history-format.md alone, so it does not repeat errors
of the C++ code.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field

from histories import (
    ABORT,
    BEGIN,
    CLOSE,
    COMMIT,
    DB_END,
    DELETE_KEY,
    DELETE_PAIR,
    ENTRY_DNE,
    ENTRY_EXISTS,
    GET,
    INSERT,
    KEY_NOTFOUND,
    NEXT,
    OPEN,
    SUCCESS,
    Call,
    History,
)

# Maps (index, key) to the payloads of the key. A key without payloads has no entry.
State = dict[tuple[int, int], set[int]]
END = None  # the result of getNext at the end of an index


@dataclass
class Transaction:
    """The calls of one transaction, without its begin and its commit or abort."""

    thread: int
    begin: int
    end: int = 0
    commit_begin: int = 0
    committed: bool = False
    calls: list[Call] = field(default_factory=list)


def transactions_of(history: History) -> list[Transaction]:
    """Split the calls of each thread into transactions."""
    found = []
    for thread, calls in enumerate(history.threads):
        current: Transaction | None = None
        for call in calls:
            if call.auto:
                done = call.code in {SUCCESS, KEY_NOTFOUND, DB_END, ENTRY_EXISTS, ENTRY_DNE}
                found.append(Transaction(thread, call.begin, call.end, call.begin, done, [call]))
            elif call.call == BEGIN and call.code == SUCCESS:
                current = Transaction(thread, call.begin)
            elif current and call.call in {COMMIT, ABORT}:
                current.end, current.commit_begin = call.end, call.begin
                current.committed = call.call == COMMIT and call.code == SUCCESS
                found.append(current)
                current = None
            elif current:
                current.calls.append(call)
    return found


@dataclass
class Cursor:
    """The position of a scan: a key, the payloads of the key that the scan has returned, and those it may leave out.

    `anchored` is true if the position was unknown ("loose") before the scan came to the key. The scan may then leave
    out every further payload of the key.
    """

    key: int
    shown: set[int]
    free: set[int] = field(default_factory=set)
    ended: bool = False
    anchored: bool = False


def keys_of(state: State, index: int) -> list[int]:
    """Return the keys of an index that have records, in ascending order."""
    return sorted(key for owner, key in state if owner == index)


def next_answers(state: State, index: int, cursor: Cursor | None) -> set[tuple[int, int] | None]:
    """Return all results that getNext may give: (key, payload) or END."""
    after = [key for key in keys_of(state, index) if cursor is None or key > cursor.key]
    further: set[tuple[int, int] | None] = {END}
    if after:
        further = {(after[0], payload) for payload in state[index, after[0]]}
    if cursor is None:
        return further
    rest = state.get((index, cursor.key), set()) - cursor.shown
    answers: set[tuple[int, int] | None] = {(cursor.key, payload) for payload in rest}
    return answers if rest - cursor.free and not cursor.anchored else answers | further


class Run:
    """Checks the calls of one transaction, and applies their changes to the state.

    With `shared`, all handles of an index share a cursor; otherwise each handle has its own. In `cursors`, an index and
    a handle identify a cursor.
    """

    LOOSE = "loose"

    def __init__(self, state: State, *, shared: bool) -> None:
        self.state = state
        self.shared = shared
        self.cursors: dict[tuple[int, int], Cursor | str] = {}

    def _cursor_of(self, call: Call) -> tuple[int, int]:
        return call.index, 0 if self.shared else call.handle

    def _loosen(self, index: int) -> None:
        self.cursors |= {(index, handle): self.LOOSE for handle in range(8)}

    def allows(self, call: Call) -> bool:
        """Return whether the result of the call is right in the current state. If it is right, change the state."""
        records = self.state.get((call.index, call.key), set())
        if call.call in {OPEN, CLOSE}:
            self._loosen(call.index)
        judges = {
            GET: self._get,
            NEXT: self._next,
            INSERT: self._insert,
            DELETE_PAIR: self._delete_pair,
            DELETE_KEY: self._delete_key,
        }
        return call.call not in judges or judges[call.call](call, records)

    def _get(self, call: Call, records: set[int]) -> bool:
        if call.code not in {SUCCESS, KEY_NOTFOUND}:
            return True
        found = call.code == SUCCESS
        self.cursors[self._cursor_of(call)] = Cursor(call.key, {call.payload} if found else set())
        return call.payload in records if found else not records

    def _next(self, call: Call, _records: set[int]) -> bool:
        if call.code not in {SUCCESS, DB_END}:
            return True
        at = self._cursor_of(call)
        cursor = self.cursors.get(at)
        answer = (call.key, call.payload) if call.code == SUCCESS else END
        there = answer is END or call.payload in self.state.get((call.index, call.key), set())
        if (
            isinstance(cursor, Cursor)
            and cursor.ended
            and answer is not END
            and call.key <= cursor.key
        ):
            # The scan starts again at the first record. Or it continues with a record that its
            # transaction inserted under the cursor's key.
            continues = call.key == cursor.key and call.payload in cursor.free - cursor.shown
            cursor = self.LOOSE if continues else None
        if isinstance(cursor, str):
            if answer is not END:
                self.cursors[at] = Cursor(call.key, {call.payload}, anchored=True)
            return there
        if answer not in next_answers(self.state, call.index, cursor):
            return False
        if answer is END:
            if cursor is not None:
                cursor.ended = True
        elif cursor is not None and call.key == cursor.key:
            cursor.shown.add(call.payload)
            cursor.ended = False
        else:
            self.cursors[at] = Cursor(call.key, {call.payload})
        return True

    def _insert(self, call: Call, records: set[int]) -> bool:
        if call.code not in {SUCCESS, ENTRY_EXISTS}:
            return True
        there = call.payload in records
        if call.code == ENTRY_EXISTS or there:
            return there and call.code == ENTRY_EXISTS
        self.state.setdefault((call.index, call.key), set()).add(call.payload)
        for (index, _), cursor in self.cursors.items():
            if index == call.index and isinstance(cursor, Cursor) and cursor.key == call.key:
                cursor.free.add(call.payload)
                cursor.shown.discard(call.payload)
        return True

    def _delete_key(self, call: Call, records: set[int]) -> bool:
        if call.code not in {SUCCESS, KEY_NOTFOUND}:
            return True
        self.state.pop((call.index, call.key), None)
        return bool(records) == (call.code == SUCCESS)

    def _delete_pair(self, call: Call, records: set[int]) -> bool:
        if call.code in {ENTRY_DNE, KEY_NOTFOUND}:
            return call.payload not in records
        if call.code != SUCCESS:
            return True
        if call.payload not in records:
            return False
        records.discard(call.payload)
        if not records:
            del self.state[call.index, call.key]
        self._loosen(call.index)
        return True


def fits_an_order(state: State, left: list[Transaction], *, shared: bool) -> bool:
    """Return whether some order of the transactions respects real time and gives all results.

    An order respects real time if no transaction comes before one that had ended before it began.
    """
    for first in left:
        if any(other.end < first.begin for other in left):
            continue
        run = Run(deepcopy(state), shared=shared)
        if all(run.allows(call) for call in first.calls):
            rest = [other for other in left if other is not first]
            if not rest or fits_an_order(run.state, rest, shared=shared):
                return True
    return not left


def sees_uncommitted(reader: Transaction, everyone: list[Transaction]) -> bool:
    """Return whether the reader saw a record before the writer of the record called commitTransaction."""
    own: set[tuple[int, int, int]] = set()
    for call in reader.calls:
        record = (call.index, call.key, call.payload)
        if call.call == INSERT and call.code == SUCCESS:
            own.add(record)
        exists = call.call == INSERT and call.code == ENTRY_EXISTS
        if not (exists or (call.call in {GET, NEXT, DELETE_PAIR} and call.code == SUCCESS)):
            continue
        visible = any(
            (write.index, write.key, write.payload) == record and write.code == SUCCESS
            for writer in everyone
            if writer is not reader and writer.committed and writer.commit_begin <= call.end
            for write in writer.calls
            if write.call == INSERT
        )
        if record not in own and not visible:
            return True
    return False


def is_right(history: History) -> bool:
    """Return whether a serial order that respects real time gives every result, and no read is dirty."""
    everyone = transactions_of(history)
    if any(sees_uncommitted(reader, everyone) for reader in everyone):
        return False
    committed = [one for one in everyone if one.committed]
    return any(fits_an_order({}, committed, shared=shared) for shared in (False, True))
