"""Tests of `keydrome convert-ycsb`: the calls of each operation of YCSB, and lines that are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

# What YCSB prints around the operations: the properties, and the measurements at the end.
BEGIN = '***************** properties *****************\n"table"="usertable"\n' + 46 * "*" + "\n"
END = "[OVERALL], RunTime(ms), 12\n[READ], Operations, 1\n"


def converted(
    folder: Path, capfd: pytest.CaptureFixture[str], run: bytes, *options: str, load: bytes = b""
) -> str:
    """Return the trace of a file, or the error."""
    printed = folder / "run.txt"
    printed.write_bytes(run)
    if load:
        (folder / "load.txt").write_bytes(load)
        options = (*options, "--load", str(folder / "load.txt"))
    status = main(["convert-ycsb", str(printed), *options])
    output = capfd.readouterr()
    assert (status == 0) == (not output.err)
    assert status == 0 or not output.out
    return output.out or output.err


def test_each_operation_becomes_a_transaction(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = BEGIN + (
        "READ usertable user1 [ <all fields>]\n"
        "READ usertable user1 [ field0 field1 ]\n"
        "SCAN usertable user2 3 [ field0 ]\n"
        "SCAN usertable user2 1 [ <all fields>]\n"
        "\n"
        "INSERT usertable user3 [ field0=a b%c field1=] [ ]\n"
        "UPDATE other user4 [ field0=x ]\n"
        "DELETE usertable user5\n"
    )
    trace = converted(
        tmp_path,
        capfd,
        (run + END).encode(),
        load=b"INSERT usertable user1 [ f=1 ]\nINSERT usertable user2 [ ]\n",
    )
    transactions = (
        "get usertable user1",
        "get usertable user1",
        "get usertable user2\n0 next usertable 2",
        "get usertable user2",
        "insert usertable user3 field0=a%20b%25c%20field1=]%20[",
        "delete other user4\n0 insert other user4 field0=x",
        "delete usertable user5",
    )
    assert trace == (
        "keydrome trace 1\nindex usertable varchar\nindex other varchar\n"
        "load usertable user1 f=1\nload usertable user2\n"
        + "".join(f"0 begin\n0 {calls}\n0 commit\n" for calls in transactions)
    )


def test_a_payload_is_cut_and_a_long_one_is_no_other_key(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = b"INSERT t k [ f=" + b"v" * 2_000 + b" ]\n"
    trace = converted(tmp_path, capfd, run)
    assert trace.splitlines()[3] == "0 insert t k f=" + "v" * 98


def test_operations_of_a_key_stay_with_one_thread(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = b"".join(b"READ t user%d [ <all fields>]\n" % (n % 40) for n in range(400))
    lines = converted(tmp_path, capfd, run, "--threads", "4").splitlines()
    threads: dict[str, set[str]] = {}
    for line in lines:
        thread, _, call = line.partition(" ")
        if call.startswith("get"):
            threads.setdefault(call, set()).add(thread)
    assert all(len(of_key) == 1 for of_key in threads.values())
    assert set().union(*threads.values()) == {"0", "1", "2", "3"}
    # A single key needs one thread, and threads have no gaps.
    trace = converted(tmp_path, capfd, run.splitlines(keepends=True)[0], "--threads", "99")
    assert trace.splitlines()[2] == "0 begin"


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (b"", "no line is an operation of YCSB"),
        (b"[READ], Operations, 1\n", "no line is an operation of YCSB"),
        (
            b"READ t k [ <all fields>]\nStarting test.\n",
            "run.txt, line 2: `ycsb run basic` and `ycsb load basic` print no line such as 'Starting",
        ),
        (b"READ t k 5 [ f ]\n", "print no line such as 'READ t k 5 [ f ]': redirect the whole"),
        (b"SCAN t k [ f ]\n", "print no line such as 'SCAN t k [ f ]': redirect the whole"),
        (b"READ t\n", "print no line such as 'READ t': redirect the whole"),
        (
            b"\xff\xfe\x00\n",
            "run.txt, line 1: `ycsb run basic` and `ycsb load basic` print no line",
        ),
        (b"DELETE t " + b"k" * 129, "line 1: the key has 129 bytes, but at most 128 are"),
        (
            b"DELETE t !k",
            "line 1: the key begins with !, which is reserved for the keys of Keydrome's own checks",
        ),
        (b"DELETE my-table k\n", "line 1: the table my-table becomes an index, whose name must"),
        (b"INSERT t k [ f=\x00 ]\n", "line 1: a key or value contains a zero byte"),
        (b"\n" + b"x" * (3 << 20), "run.txt, line 2: the line has 1,048,576 bytes or more"),
    ],
)
def test_other_lines_are_refused_with_their_number(
    run: bytes, words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words in converted(tmp_path, capfd, run)


def test_wrong_options_are_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = b"READ t k [ <all fields>]\n"
    error = converted(tmp_path, capfd, run, load=run)
    assert "load.txt, line 1: a load only inserts, but this line has the operation READ" in error
    assert "at most 1,024 threads" in converted(tmp_path, capfd, run, "--threads", "1025")
    assert main(["convert-ycsb", str(tmp_path / "none")]) == 2
    assert "none: cannot read the file (No such file or directory): give" in capfd.readouterr().err
