"""Tests of runner/inspection/key_file.py: which instance uses a user's keys, and files that are wrong or change.

An instance is a named set of parameters of a benchmark.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner.contract import RefereeError
from runner.inspection.key_file import KeyFile, KeyType, inspect_keys, instance_for
from runner.inspection.user_file import UserFile, unchanged
from runner.manifest import RequestError, parse_benchmark
from runner.settings import Settings
from runner.strict import StrictError
from runner.tests.samples import MANIFEST, key_file

FACTS: dict[str, Any] = {
    "shifted": True,
    "segments_32_per_million": 5276.5,
    "segments_4096_per_million": 8.4,
}
INTEGERS = KeyFile(UserFile("keys", Path("/data/fb"), "0" * 64, FACTS), KeyType.INT64, 200_000_000)


def with_keys(keys: str) -> str:
    manifest = json.loads(MANIFEST)
    manifest["instances"]["small"]["keys"] = keys
    return json.dumps(manifest)


def test_the_first_instance_with_such_keys_is_the_default() -> None:
    plain = parse_benchmark(MANIFEST, "sample")
    assert instance_for(plain, None, None) == "small"
    assert instance_for(plain, "any", None) == "any"
    known = parse_benchmark(with_keys("int64"), "sample")
    assert instance_for(known, None, INTEGERS) == "small"
    assert instance_for(known, "small", INTEGERS) == "small"


def test_an_instance_with_other_keys_is_refused() -> None:
    plain = parse_benchmark(MANIFEST, "sample")
    with pytest.raises(RequestError, match="no instance of sample uses keys of type int64"):
        instance_for(plain, None, INTEGERS)
    known = parse_benchmark(with_keys("int64"), "sample")
    other = {**known.instances, "other": replace(known.instances["small"], keys="varchar")}
    with pytest.raises(RequestError, match=r"does not use keys of type int64 .* one of: small"):
        instance_for(replace(known, instances=other), "other", INTEGERS)
    with pytest.raises(StrictError, match="keys: must be int64 or varchar"):
        parse_benchmark(with_keys("float"), "sample")


def test_the_line_about_integers_shows_their_hardness() -> None:
    text = INTEGERS.text()
    assert "fb: 200,000,000 integers; hardness: 5,276 line segments per million keys" in text
    assert "an error of at most 32, and 8 with an error of at most 4,096" in text
    assert "2^63 was subtracted from each key" in text


def overwrite(path: Path) -> None:
    """Change the content of a file, but neither its size nor its inode nor the time of its last change."""
    before = path.stat()
    path.write_text("2\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_ino) == (before.st_size, before.st_ino)


def test_a_file_that_changes_in_a_session_ends_the_series(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    keys = key_file(path)
    with unchanged([keys.file]):
        pass
    with (
        pytest.raises(RequestError, match=r"keys: the file changed .* run again"),
        unchanged([keys.file]),
    ):
        overwrite(path)
    with (
        pytest.raises(RequestError, match=r"cannot read the file \(No such"),
        unchanged([keys.file]),
    ):
        path.unlink()
    with unchanged([]):
        pass


def test_a_change_explains_why_the_referee_failed(tmp_path: Path) -> None:
    keys = key_file(tmp_path / "keys")
    failed = RefereeError("line 2, column 1")
    with pytest.raises(RefereeError, match="line 2"), unchanged([keys.file]):
        raise failed
    with pytest.raises(RefereeError, match="line 2"), unchanged([]):
        raise failed
    keys.path.write_text("2\n")
    with pytest.raises(RequestError, match="the file changed"), unchanged([keys.file]):
        raise failed


def _settings(folder: Path, referee: str) -> Settings:
    program = folder / "build" / "bin" / "referee"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{referee}\n")
    program.chmod(0o755)
    return Settings(root=folder, build=folder / "build", var=folder)


def test_a_referee_that_ends_otherwise_is_reported(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("a\n")
    settings = _settings(tmp_path, "echo 'killed' >&2; exit 9")
    with pytest.raises(RequestError, match=r"no usable answer about the file \(killed\)"):
        inspect_keys(keys, settings)
    with pytest.raises(RequestError, match=r"the name is unusable \(embedded null byte"):
        inspect_keys(Path("a\0b"), settings)
    settings.referee.chmod(0o600)
    with pytest.raises(RequestError, match=r"cannot start .*/referee, which checks .*: Permission"):
        inspect_keys(keys, settings)
    with pytest.raises(RequestError, match=r"is missing: run ./dev build"):
        inspect_keys(keys, replace(settings, build=tmp_path))
