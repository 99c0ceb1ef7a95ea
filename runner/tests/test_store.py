"""Tests of the blob store: reading back, limits, damaged blobs and concurrent writers.

A blob is an uploaded file, which the store names by its SHA-256 digest.
"""

from __future__ import annotations

import hashlib
import io
import stat
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.store import BlobDamagedError, BlobMissingError, BlobStore, BlobTooLargeError

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 1 << 20


@given(content=st.binary(max_size=4096))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_stored_blob_is_read_back(content: bytes, tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    blob = store.put(io.BytesIO(content), limit_bytes=LIMIT)
    assert blob.sha256 == hashlib.sha256(content).hexdigest()
    assert blob.size_bytes == len(content)
    with store.open(blob.sha256) as stream:
        assert stream.read() == content
    store.verify(blob.sha256)


def test_a_blob_is_two_folders_deep_and_read_only(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    digest = store.put(io.BytesIO(b"x"), limit_bytes=LIMIT).sha256
    path = tmp_path / digest[:2] / digest[2:4] / digest
    assert store.path(digest) == path
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_too_many_bytes_leave_no_trace(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    with pytest.raises(BlobTooLargeError, match="larger than the limit of 1 MiB"):
        store.put(io.BytesIO(b"x" * (LIMIT + 1)), limit_bytes=LIMIT)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert store.put(io.BytesIO(b"x" * LIMIT), limit_bytes=LIMIT).size_bytes == LIMIT


def test_a_stream_that_breaks_leaves_no_trace(tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, _size: int | None = -1) -> bytes:
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        BlobStore(tmp_path).put(Broken(), limit_bytes=LIMIT)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_many_writers_of_one_blob_agree(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)

    def put(_: int) -> str:
        return store.put(io.BytesIO(b"same" * 10_000), limit_bytes=LIMIT).sha256

    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(put, range(32)))
    assert len(digests) == 1
    store.verify(digests.pop())
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_a_damaged_blob_is_detected_and_repaired_by_another_upload(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "store")
    digest = store.put(io.BytesIO(b"right"), limit_bytes=LIMIT).sha256
    store.path(digest).chmod(0o600)
    store.path(digest).write_bytes(b"wrong")
    with pytest.raises(BlobDamagedError):
        store.verify(digest)
    target = tmp_path / "copy"
    with pytest.raises(BlobDamagedError):
        store.copy(digest, target, mode=0o444)
    assert not target.exists()
    store.put(io.BytesIO(b"right"), limit_bytes=LIMIT)
    store.copy(digest, target, mode=0o444)
    assert target.read_bytes() == b"right"
    assert stat.S_IMODE(target.stat().st_mode) == 0o444


def test_a_missing_blob_is_named(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    assert not store.exists("0" * 64)
    with pytest.raises(BlobMissingError, match="0000"):
        store.open("0" * 64)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n"])
def test_a_malformed_digest_is_never_a_path(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a SHA-256 digest"):
        BlobStore(tmp_path).path(name)
