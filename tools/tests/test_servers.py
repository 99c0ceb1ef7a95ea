"""Tests that two clones of the repository can run PostgreSQL and Redis for their tests at the same time.

Needs root, PostgreSQL and Redis.
"""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import unquote

from dev import servers

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def answers(urls: dict[str, str]) -> bool:
    """Return whether both servers answer over their sockets."""
    sockets = unquote(urls["DATABASE_URL"].partition("@")[2].rpartition("/")[0])
    broker = urls["KEYDROME_BROKER_URL"].removeprefix("redis+socket://")
    commands = (
        ["psql", "-h", sockets, "-U", "postgres", "-c", "select 1"],
        ["redis-cli", "-s", broker, "ping"],
    )
    statuses = [
        subprocess.run(one, capture_output=True, check=False).returncode for one in commands
    ]
    return statuses == [0, 0]


def test_the_servers_of_two_clones_run_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[dict[str, str]] = []
    with ExitStack() as running:
        for clone in ("first", "second"):
            for name in ("VAR", "LOGS"):
                monkeypatch.setattr(servers, name, tmp_path / clone / name)
            found.append(running.enter_context(servers.postgres_and_redis()))
        assert all(answers(urls) for urls in found)
        assert not set(found[0].values()) & set(found[1].values())
    assert not any(answers(urls) for urls in found)
