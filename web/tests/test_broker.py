"""Tests the embedded site's message broker, in which several processes write and read the same folder."""

from __future__ import annotations

import errno
import itertools
import subprocess
import sys
from pathlib import Path
from queue import Empty
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from kombu.connection import Connection

from web import broker
from web.celery import app

if TYPE_CHECKING:
    from collections.abc import Iterator

MESSAGES = 400
# The program of another process. It binds a queue with its own name, then puts messages into the queue "bench", which
# the test reads.
WRITER = """
import sys
from kombu import Connection
from web.broker import Transport
folder, name, count = sys.argv[1:]
options = {option: folder for option in ("data_folder_in", "data_folder_out", "control_folder")}
with Connection(transport=Transport, transport_options=options) as connection:
    channel = connection.channel()
    channel._queue_bind("both", "", "", name)
    for number in range(int(count)):
        channel._put("bench", {"from": name, "number": number, "filling": "x" * 10_000})
"""


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[broker.Channel]:
    """A channel on a temporary folder, which no other test uses."""
    messages, processed = tmp_path / "messages", tmp_path / "processed"
    messages.mkdir()
    processed.mkdir()
    options = dict.fromkeys(("data_folder_in", "data_folder_out", "control_folder"), str(messages))
    options["processed_folder"] = str(processed)
    with Connection(transport=broker.Transport, transport_options=options) as connection:
        yield connection.channel()


def test_the_embedded_site_uses_it_and_one_with_a_broker_of_its_own_does_not() -> None:
    embedded = app.conf.broker_url.startswith("filesystem:")
    with app.connection_for_write() as connection:
        assert isinstance(connection.transport, broker.Transport) == embedded


def test_a_message_is_not_seen_before_it_is_whole(
    channel: broker.Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    rename = Path.rename

    def look_first(written: Path, target: Path) -> Path:
        with pytest.raises(Empty):
            channel._get("bench")
        seen.append(written.read_text())
        return rename(written, target)

    monkeypatch.setattr(Path, "rename", look_first)
    channel._put("bench", {"body": "a wake-up"})
    assert seen == ['{"body": "a wake-up"}']
    assert channel._get("bench") == {"body": "a wake-up"}
    with pytest.raises(Empty):
        channel._get("bench")


def test_messages_come_in_the_order_in_which_they_were_put(
    channel: broker.Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count(1000)
    monkeypatch.setattr(broker, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    for number in range(5):
        channel._put("bench", {"number": number})
        channel._put("results", {"number": 10 + number})
    assert [channel._get("bench")["number"] for _ in range(5)] == list(range(5))
    assert channel._size("results") == 5


def test_a_full_disk_leaves_no_files(
    channel: broker.Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_written: Path, _target: Path) -> Path:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(OSError, match="no space left"):
        channel._put("bench", {"body": "a wake-up"})
    assert list(Path(channel.data_folder_out).glob("*.msg*")) == []
    assert list(Path(channel.data_folder_out).glob("writing-*")) == []


def test_concurrent_writers_lose_no_message_and_readers_see_only_whole_messages(
    channel: broker.Channel,
) -> None:
    folder = channel.data_folder_in
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, folder, name, str(MESSAGES)])
        for name in ("first", "second")
    ]
    read: list[tuple[str, int]] = []
    while len(read) < 2 * MESSAGES:
        ended = all(writer.poll() is not None for writer in writers)
        channel.get_table("both")
        try:
            message = channel._get("bench")
        except Empty:
            assert not ended, f"{len(read)} of {2 * MESSAGES} messages came"
            continue
        read.append((message["from"], message["number"]))
    assert [writer.wait() for writer in writers] == [0, 0]
    assert sorted(read) == sorted(
        (name, n) for name in ("first", "second") for n in range(MESSAGES)
    )
    assert {binding.queue for binding in channel.get_table("both")} == {"first", "second"}
