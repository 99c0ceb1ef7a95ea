"""Defines `Witness`, the proof of a finding: transactions, their calls, and why one must precede another.

The referee, the program that judges a library, writes witnesses into its report (harness/schema/report.v1.schema.json).
The texts of a witness contain data from an untrusted library. Therefore this reader limits all lengths, and code that
shows a text must escape it. results/witness_text.py and results/witness_picture.py show a witness.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from runner.strict import ObjectReader, StrictError, json_name

TRANSACTIONS_MAX = 64
CALLS_MAX = 256  # of one transaction
EDGES_MAX = 256
RECORDS_MAX = 512
TEXT_CHARACTERS_MAX = 1_000
PROGRAM_CHARACTERS_MAX = 400_000


class EdgeKind(StrEnum):
    """Why one transaction must precede another (A. Adya, Weak Consistency, 1999, chapter 4)."""

    WRITE_WRITE = "write_write"
    WRITE_READ = "write_read"
    PREDICATE_READ = "predicate_read"
    READ_WRITE = "read_write"
    PREDICATE_WRITE = "predicate_write"
    REAL_TIME = "real_time"


@dataclass(frozen=True, slots=True)
class Call:
    """One call. Times are in microseconds since the first transaction began. A `marked` call is part of the proof."""

    begin_us: float
    end_us: float
    call: str
    answer: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Transaction:
    """One transaction and those of its calls that are shown; `calls_left_out` is the number of its other calls."""

    name: str
    thread: int
    state: str  # "committed", "failed" or "unfinished"
    begin_us: float
    end_us: float
    calls: tuple[Call, ...]
    calls_left_out: int


@dataclass(frozen=True, slots=True)
class Edge:
    """The fact that transaction number `source` must precede transaction number `target`; `because` is the reason."""

    source: int
    target: int
    kind: EdgeKind
    because: str


@dataclass(frozen=True, slots=True)
class Witness:
    """The proof of a finding.

    - `summary`: the violation in one sentence, without its full stop.
    - `transactions`: the transactions involved, or the most important of them.
    - `edges`: which transaction must precede which.
    - `program`: a C program that repeats the calls, or an empty string.
    - `initial`: the records that existed before these transactions and that at least one of them saw.
    - `transactions_left_out`: how many other transactions are involved, but not shown because there are too many.
    """

    summary: str
    transactions: tuple[Transaction, ...] = ()
    edges: tuple[Edge, ...] = ()
    program: str = ""
    initial: tuple[str, ...] = ()
    transactions_left_out: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        value: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return value

    @classmethod
    def from_json(cls, value: object, where: str) -> Witness:
        """Return the witness in `value`. Raises StrictError if the value has another form or is too large."""
        reader = ObjectReader(value, where)
        transactions = tuple(
            _transaction(item, f"{where}.transactions[{i}]")
            for i, item in enumerate(_items(reader, "transactions", TRANSACTIONS_MAX, where))
        )
        edges = tuple(
            _edge(item, len(transactions), f"{where}.edges[{i}]")
            for i, item in enumerate(_items(reader, "edges", EDGES_MAX, where))
        )
        initial = tuple(
            _checked(item, f"{where}.initial[{i}]")
            for i, item in enumerate(_items(reader, "initial", RECORDS_MAX, where))
        )
        program = reader.text("program", default="")
        if len(program) > PROGRAM_CHARACTERS_MAX:
            raise StrictError(
                f"{where}.program: the text has {len(program)} characters, but at most {PROGRAM_CHARACTERS_MAX} are "
                "allowed"
            )
        left_out = reader.integer("transactions_left_out", minimum=0, default=0)
        witness = cls(
            _text(reader, "summary", where), transactions, edges, program, initial, left_out
        )
        reader.end()
        return witness


def _items(reader: ObjectReader, name: str, most: int, where: str) -> list[Any]:
    items = reader.items(name, required=False)
    if len(items) > most:
        raise StrictError(f"{where}.{name}: {len(items)} items, but at most {most} are allowed")
    return items


def _text(reader: ObjectReader, name: str, where: str) -> str:
    return _checked(reader.text(name), f"{where}.{name}")


def _checked(text: object, where: str) -> str:
    if not isinstance(text, str):
        raise StrictError(f"{where}: expected a string, found {json_name(type(text))}")
    if len(text) > TEXT_CHARACTERS_MAX:
        raise StrictError(
            f"{where}: the text has {len(text)} characters, but at most {TEXT_CHARACTERS_MAX} are allowed"
        )
    return text


def _transaction(value: object, where: str) -> Transaction:
    reader = ObjectReader(value, where)
    calls = tuple(
        _call(item, f"{where}.calls[{i}]")
        for i, item in enumerate(_items(reader, "calls", CALLS_MAX, where))
    )
    transaction = Transaction(
        name=_text(reader, "name", where),
        thread=reader.integer("thread", minimum=0),
        state=_text(reader, "state", where),
        begin_us=reader.number("begin_us"),
        end_us=reader.number("end_us"),
        calls=calls,
        calls_left_out=reader.integer("calls_left_out", minimum=0),
    )
    reader.end()
    return transaction


def _call(value: object, where: str) -> Call:
    reader = ObjectReader(value, where)
    call = Call(
        begin_us=reader.number("begin_us"),
        end_us=reader.number("end_us"),
        call=_text(reader, "call", where),
        answer=_text(reader, "answer", where),
        marked=reader.boolean("marked"),
    )
    reader.end()
    return call


def _edge(value: object, transactions: int, where: str) -> Edge:
    reader = ObjectReader(value, where)
    edge = Edge(
        source=reader.integer("source", minimum=0),
        target=reader.integer("target", minimum=0),
        kind=reader.word("kind", EdgeKind),
        because=_text(reader, "because", where),
    )
    reader.end()
    if max(edge.source, edge.target) >= transactions:
        raise StrictError(
            f"{where}: source {edge.source} or target {edge.target} is too large: it must be below {transactions}, the "
            "number of transactions"
        )
    return edge
