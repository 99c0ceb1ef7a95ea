"""Tests the program `certify`, which judges recorded histories, against two independent implementations.

history_oracle.py tries every serial order of small histories. For a single client, SQLite gives the right results.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import histories
import pytest
from histories import (
    BEGIN,
    COMMIT,
    DB_END,
    DELETE_KEY,
    DELETE_PAIR,
    ENTRY_DNE,
    ENTRY_EXISTS,
    GET,
    INSERT,
    INT,
    KEY_NOTFOUND,
    NEXT,
    SUCCESS,
    VARCHAR,
    Call,
    History,
)
from history_oracle import is_right

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KEYDROME_BUILD", ROOT / "build" / "release"))
SOAK = int(os.environ.get("KEYDROME_SOAK", "1"))


def certify(path: Path) -> tuple[int, str]:
    """Return the exit status and the verdict of the program `certify` for a history file."""
    done = subprocess.run(
        [str(BUILD / "bin" / "certify"), "--json", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)["verdict"]


def test_certify_agrees_with_an_oracle_by_another_hand(tmp_path: Path) -> None:
    count = 1500 * SOAK
    program = BUILD / "tests" / "random_histories"
    done = subprocess.run(
        [str(program), str(tmp_path), "1", str(count)], capture_output=True, text=True, check=True
    )
    verdicts = dict(line.split() for line in done.stdout.splitlines())
    assert len(verdicts) == count
    wrong = 0
    for seed, verdict in verdicts.items():
        right = is_right(histories.read(tmp_path / seed))
        wrong += not right
        assert verdict == ("certified" if right else "violation"), f"seed {seed}"
    assert count // 50 < wrong < count // 2


class Store:
    """Records the calls of a single client on one index. SQLite stores the index, so every result is right."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.base = sqlite3.connect(":memory:")
        self.base.execute("CREATE TABLE r (k, p INTEGER, PRIMARY KEY (k, p)) WITHOUT ROWID")
        self.calls: list[Call] = []
        self.now = 0
        self.payloads = 0
        self.cursor: tuple[object, int] | None = None  # key and payload of the last returned record

    def note(self, call: int, code: int, key: int = 0, payload: int = 0) -> None:
        self.now += 2
        self.calls.append(Call(call, code, 0, key, payload, self.now - 1, self.now))

    def payloads_of(self, key: object) -> list[int]:
        return [p for (p,) in self.base.execute("SELECT p FROM r WHERE k = ? ORDER BY p", (key,))]

    def get(self, key: object, name: int) -> None:
        found = self.payloads_of(key)
        # If the key has no record, the scan continues after the key: 1 << 62 is larger than every payload.
        self.cursor = (key, found[0] if found else 1 << 62)
        self.note(GET, SUCCESS if found else KEY_NOTFOUND, name, found[0] if found else 0)

    def next(self, name_of: dict[object, int]) -> None:
        where = "" if self.cursor is None else "WHERE (k, p) > (?, ?)"
        row = self.base.execute(
            f"SELECT k, p FROM r {where} ORDER BY k, p LIMIT 1",  # noqa: S608 - two constants
            self.cursor or (),
        ).fetchone()
        if row is None:
            self.note(NEXT, DB_END)
            return
        self.cursor = row
        self.note(NEXT, SUCCESS, name_of[row[0]], row[1])

    def insert(self, key: object, name: int) -> None:
        known = self.payloads_of(key)
        if known and self.random.random() < 0.2:
            self.note(INSERT, ENTRY_EXISTS, name, self.random.choice(known))
            return
        self.payloads += 1
        self.base.execute("INSERT INTO r VALUES (?, ?)", (key, self.payloads))
        self.note(INSERT, SUCCESS, name, self.payloads)

    def delete_pair(self, key: object, name: int) -> None:
        known = self.payloads_of(key)
        payload = self.random.choice([*known, self.payloads + 1])
        if payload in known:
            self.base.execute("DELETE FROM r WHERE k = ? AND p = ?", (key, payload))
        self.note(DELETE_PAIR, SUCCESS if payload in known else ENTRY_DNE, name, payload)

    def delete_key(self, key: object, name: int) -> None:
        count = self.base.execute("DELETE FROM r WHERE k = ?", (key,)).rowcount
        self.note(DELETE_KEY, SUCCESS if count else KEY_NOTFOUND, name)


def session(seed: int, count: int, keys: list[object], names: list[int]) -> list[Call]:
    """Return random calls of a single client with the results of SQLite."""
    store = Store(seed)
    name_of = dict(zip(keys, names, strict=True))
    while len(store.calls) < count:
        store.note(BEGIN, SUCCESS)
        store.cursor = None
        for _ in range(store.random.randint(1, 12)):
            key = store.random.choice(keys)
            dice = store.random.random()
            if dice < 0.2:
                store.get(key, name_of[key])
            elif dice < 0.6:
                store.next(name_of)
            elif dice < 0.85:
                store.insert(key, name_of[key])
            elif dice < 0.95:
                store.delete_pair(key, name_of[key])
            else:
                store.delete_key(key, name_of[key])
        store.note(COMMIT, SUCCESS)
    return store.calls


def history(seed: int, count: int, kind: int) -> History:
    """Return random calls of a single client as a history. Its keys are strings, or small and large integers."""
    dice = random.Random(seed)
    if kind == VARCHAR:
        words = sorted(
            {bytes(dice.choices(b"ab\x01\xff", k=dice.randint(0, 5))) for _ in range(30)}
        )
        names = [histories.hash_bytes(word) for word in words]
        return History([(kind, "r")], [session(seed, count, [*words], names)], words)
    numbers = sorted({dice.choice([dice.randint(-9, 9), dice.getrandbits(63)]) for _ in range(30)})
    return History([(kind, "r")], [session(seed, count, [*numbers], numbers)])


@pytest.mark.parametrize("kind", [INT, VARCHAR])
def test_the_model_agrees_with_sqlite(tmp_path: Path, kind: int) -> None:
    for seed in range(3 * SOAK):
        path = tmp_path / "history"
        histories.write(history(seed, 5000 * (SOAK if seed == 0 else 1), kind), path)
        assert certify(path) == (0, "certified"), f"seed {seed}"


WRONG = {
    GET: {SUCCESS: KEY_NOTFOUND, KEY_NOTFOUND: SUCCESS},
    NEXT: {SUCCESS: DB_END},
    INSERT: {SUCCESS: ENTRY_EXISTS, ENTRY_EXISTS: SUCCESS},
    DELETE_PAIR: {SUCCESS: ENTRY_DNE, ENTRY_DNE: SUCCESS},
    DELETE_KEY: {SUCCESS: KEY_NOTFOUND, KEY_NOTFOUND: SUCCESS},
}


def test_a_wrong_last_answer_is_never_certified(tmp_path: Path) -> None:
    judged = 0
    for seed in range(150 * SOAK):
        right = history(seed, 40, INT)
        calls = right.threads[0]
        at = max(i for i, call in enumerate(calls) if call.call in WRONG)
        codes = WRONG[calls[at].call]
        # After a delete of a pair, several results of getNext are right, so DB_END may be right.
        free = {DELETE_PAIR} & {call.call for call in calls[at - 12 : at]}
        if calls[at].code not in codes or (calls[at].call == NEXT and free):
            continue
        last = calls[at]
        wrong = Call(last.call, codes[last.code], 0, last.key, last.payload, last.begin, last.end)
        # The last call is changed, because no later call depends on its result.
        right.threads[0] = [*calls[:at], wrong, Call(COMMIT, SUCCESS, 0, 0, 0, last.end, last.end)]
        path = tmp_path / "history"
        histories.write(right, path)
        assert certify(path)[0] != 0, f"seed {seed}"
        judged += 1
    assert judged > 100 * SOAK


def test_the_program_says_what_it_cannot_do(tmp_path: Path) -> None:
    program = str(BUILD / "bin" / "certify")
    (tmp_path / "noise").write_bytes(b"not a history")
    missing, noise = str(tmp_path / "missing"), str(tmp_path / "noise")
    for arguments, reason in (
        ([], "no history file is given"),
        (["--what", noise], "unknown option --what"),
        (["--json", noise, "--order"], "--order: the name of the file is missing"),
        ([noise, missing], f"one history at a time, not both {noise} and {missing}"),
        ([missing], missing),
        ([noise], noise),
    ):
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("certify: ")
        assert reason in done.stderr.splitlines()[0]


def test_the_text_explains_the_cycle(tmp_path: Path) -> None:
    get = Call(GET, KEY_NOTFOUND, 0, 1, 0, 20, 30)
    other = Call(GET, KEY_NOTFOUND, 0, 2, 0, 20, 30)
    threads = [
        [Call(BEGIN, SUCCESS, end=10), get, Call(INSERT, SUCCESS, 0, 2, 77, 40, 50)],
        [Call(BEGIN, SUCCESS, end=10), other, Call(INSERT, SUCCESS, 0, 1, 88, 40, 50)],
    ]
    for calls in threads:
        calls.append(Call(COMMIT, SUCCESS, begin=60, end=70))
    path = tmp_path / "skew"
    histories.write(History([(INT, "accounts")], threads), path)
    done = subprocess.run(
        [str(BUILD / "bin" / "certify"), str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "phantom (breaks a required rule)" in done.stdout
    assert "T1 must precede T2 [predicate_write]" in done.stdout
    assert 'get("accounts", 1) = KEY_NOTFOUND' in done.stdout


def test_real_time_counts_unless_it_is_asked_not_to(tmp_path: Path) -> None:
    insert = Call(INSERT, SUCCESS, 0, 1, 77, 10, 20, auto=True)
    early = Call(GET, KEY_NOTFOUND, 0, 1, 0, 30, 40, auto=True)
    late = Call(GET, SUCCESS, 0, 1, 77, 50, 60, auto=True)
    path = tmp_path / "stale"
    histories.write(History([(INT, "r")], [[insert], [early, late]]), path)
    program = [str(BUILD / "bin" / "certify"), "--json"]
    for options, status, severity in (([], 1, "required"), (["--serialisable"], 0, "advisory")):
        done = subprocess.run(
            [*program, *options, str(path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == status
        (violation,) = json.loads(done.stdout)["violations"]
        assert (violation["name"], violation["severity"]) == ("stale_read", severity)


def replayed(path: Path, order: Path, *options: str) -> tuple[int, str]:
    """Return the exit status and the output of the program that replays a serial order."""
    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / "checker" / "replay_order.py"),
            *options,
            str(path),
            str(order),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).strip()


def ordered(path: Path, order: Path) -> int:
    """Let `certify` write the serial order of a history. Return its exit status."""
    program = [str(BUILD / "bin" / "certify"), "--order", str(order), str(path)]
    return subprocess.run(program, capture_output=True, check=False).returncode


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history of one client with 40,000 calls. tests/test_histories.py replays runs of several threads."""
    path = tmp_path_factory.mktemp("large") / "history"
    histories.write(history(7, 40_000, VARCHAR), path)
    return path


def test_the_program_that_replays_an_order_is_short_enough_to_read() -> None:
    """All lines count, comments and blank lines too. docs/reference/history-format.md promises this size."""
    text = (ROOT / "checker" / "replay_order.py").read_text()
    assert len(text.splitlines()) <= 200
    assert max(map(len, text.splitlines())) <= 120


def test_the_order_of_a_large_history_explains_every_result(large: Path, tmp_path: Path) -> None:
    order = tmp_path / "order"
    assert ordered(large, order) == 0
    assert len(order.read_text().splitlines()) > 4_000
    assert replayed(large, order) == (0, "the order explains every result")


def test_a_wrong_order_is_refused(large: Path, tmp_path: Path) -> None:
    order, wrong = tmp_path / "order", tmp_path / "wrong"
    assert ordered(large, order) == 0
    head, *lines = order.read_text().splitlines()
    half = len(lines) // 2
    for changed, words in [
        ([*lines[half:], *lines[:half]], "in this order"),
        (lines[:-1], "the order lacks committed transactions: 1"),
        ([*lines, lines[0]], "the order has it twice"),
    ]:
        wrong.write_text("\n".join([head, *changed]) + "\n")
        status, said = replayed(large, wrong, "--serialisable")
        assert status == 1
        assert words in said
    wrong.write_text("\n".join([head, *reversed(lines)]) + "\n")
    assert replayed(large, wrong)[0] == 1
    wrong.write_text("something else\n")
    assert replayed(large, wrong)[0] == 2


@pytest.mark.parametrize("size", [0, 1, 63, 64, 1_000])
def test_an_incomplete_history_is_damaged(large: Path, tmp_path: Path, size: int) -> None:
    part = tmp_path / "part"
    part.write_bytes(large.read_bytes()[:size])
    status, said = replayed(part, tmp_path / "order")
    assert (status, "part is damaged, or is not a history" in said) == (2, True)


def test_the_program_names_the_file_that_it_cannot_use(tmp_path: Path) -> None:
    path, order = tmp_path / "history", tmp_path / "order"
    calls = [
        [Call(INSERT, SUCCESS, key=1, payload=7, begin=1, end=2, auto=True)],
        [Call(GET, KEY_NOTFOUND, key=2, begin=3, end=4, auto=True)],
    ]
    histories.write(History([(INT, "A")], calls), path)
    head = "keydrome serial order 1\n"
    order.write_text(head + "0 0\n1 0\n")
    assert replayed(path, order) == (0, "the order explains every result")
    status, said = replayed(order, path)
    assert (status, "give HISTORY before ORDER" in said) == (2, True)
    for text in ["", head + "0\n", head + "0 x\n"]:
        order.write_text(text)
        status, said = replayed(path, order)
        assert (status, "contains no serial order" in said) == (2, True), text
    order.write_text(head + "1 0\n0 0\n")
    status, said = replayed(path, order)
    assert status == 1
    assert "of thread 0 that begins at event 0 comes after the transaction of thread 1" in said


def test_a_changed_result_is_refused(large: Path, tmp_path: Path) -> None:
    order, damaged = tmp_path / "order", tmp_path / "damaged"
    assert ordered(large, order) == 0
    content = histories.read(large)
    thread = content.threads[0]
    at = next(i for i, call in enumerate(thread) if call.call == GET and call.code == SUCCESS)
    thread[at] = replace(thread[at], payload=thread[at].payload ^ 1)
    histories.write(content, damaged)
    status, said = replayed(damaged, order)
    assert (status, f"event {at} is wrong" in said) == (1, True)


def test_certified_histories_have_an_order_that_explains_them(tmp_path: Path) -> None:
    program = BUILD / "tests" / "random_histories"
    count = 60 * SOAK
    subprocess.run([str(program), str(tmp_path), "1", str(count)], capture_output=True, check=True)
    certified = 0
    for path in sorted(tmp_path.iterdir()):
        order = tmp_path / "order"
        if ordered(path, order) == 0:
            certified += 1
            assert replayed(path, order)[0] == 0, path.name
        else:
            assert not order.exists()
        order.unlink(missing_ok=True)
    assert certified > count // 2


def test_an_order_that_cannot_be_written_is_an_error(large: Path, tmp_path: Path) -> None:
    assert ordered(large, tmp_path / "missing" / "order") == 2
