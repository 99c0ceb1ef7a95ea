"""Blobs by SHA-256: what was uploaded, kept under its digest and never under a name that a stranger chose.

Several processes may use one store at once: a blob appears whole, by rename, or not at all.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

_CHUNK_BYTES = 1 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}")


class StoreError(Exception):
    """The store cannot give or take a blob."""


class BlobTooLargeError(StoreError):
    """More bytes than the limit; nothing was kept."""


class BlobMissingError(StoreError):
    """The store has no blob of that digest."""


class BlobDamagedError(StoreError):
    """The bytes of a blob do not have its digest any more."""


@dataclass(frozen=True, slots=True)
class Blob:
    """A stored file: its digest in lower-case hexadecimal, and its size."""

    sha256: str
    size_bytes: int


class BlobStore:
    """A folder of blobs, two levels deep: ab/cd/abcd... Thread-safe and process-safe."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, sha256: str) -> Path:
        """Return where the blob of that digest lies or would lie. ValueError for what is no digest."""
        if not _DIGEST.fullmatch(sha256):
            raise ValueError(f"{sha256!r} is not a SHA-256 digest in lower-case hexadecimal")
        return self._root / sha256[:2] / sha256[2:4] / sha256

    def exists(self, sha256: str) -> bool:
        """Say whether a blob of that digest is stored (its bytes are not read)."""
        return self.path(sha256).is_file()

    def put(self, stream: BinaryIO, *, limit_bytes: int) -> Blob:
        """Store what `stream` holds, durably, and return its digest and size. Storing a blob again is harmless.

        The bytes are on disk (fsync of file and folders) when this returns. BlobTooLargeError as soon as more than
        `limit_bytes` have come; OSError when the disk refuses. In both cases no trace is left.
        """
        incoming = self._root / "incoming"
        incoming.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = incoming / secrets.token_hex(16)
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                blob = _copy(stream, file, limit_bytes)
                os.fchmod(file.fileno(), 0o400)
                file.flush()
                os.fsync(file.fileno())
            target = self.path(blob.sha256)
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Replacing also heals a damaged blob of the same digest.
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
        for folder in (target.parent, target.parent.parent, self._root):
            _sync_folder(folder)
        return blob

    def open(self, sha256: str) -> BinaryIO:
        """Open a blob for reading; BlobMissingError. The bytes are not verified: see `copy` and `verify`."""
        try:
            return self.path(sha256).open("rb")
        except FileNotFoundError as error:
            raise BlobMissingError(
                f"the blob {sha256} is not in {self._root}: was another KEYDROME_VAR in use when it was stored?"
            ) from error

    def verify(self, sha256: str) -> None:
        """Read the whole blob; BlobMissingError or BlobDamagedError unless its bytes have its digest."""
        with self.open(sha256) as stream:
            digest = hashlib.sha256()
            while chunk := stream.read(_CHUNK_BYTES):
                digest.update(chunk)
        _compare(sha256, digest.hexdigest())

    def copy(self, sha256: str, target: Path, *, mode: int) -> None:
        """Copy a blob to the new file `target` and verify the very bytes that were copied.

        BlobMissingError, BlobDamagedError (the copy is removed then), FileExistsError.
        """
        with self.open(sha256) as stream, target.open("xb") as file:
            found = _copy(stream, file, None)
            os.fchmod(file.fileno(), mode)
        try:
            _compare(sha256, found.sha256)
        except BlobDamagedError:
            target.unlink()
            raise


def _copy(stream: BinaryIO, file: BinaryIO, limit_bytes: int | None) -> Blob:
    digest = hashlib.sha256()
    size = 0
    while chunk := stream.read(_CHUNK_BYTES):
        size += len(chunk)
        if limit_bytes is not None and size > limit_bytes:
            raise BlobTooLargeError(
                f"the file is larger than {limit_bytes >> 20} MiB: strip it (strip --strip-unneeded) "
                "or leave out embedded data"
            )
        digest.update(chunk)
        file.write(chunk)
    return Blob(digest.hexdigest(), size)


def _compare(expected: str, found: str) -> None:
    if expected != found:
        raise BlobDamagedError(
            f"the blob {expected} is damaged: its bytes have the digest {found}; upload it again"
        )


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
