"""Stores uploaded files as blobs. The name of a blob is its SHA-256 digest, never a name that the uploader chose.

Several processes may use one store at once. A blob is written to a temporary file, which is then renamed, so readers
see a complete blob or none.
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

# The advice for a file that is too large, in the messages of all checks of the size.
MAKE_SMALLER = "strip the file (strip --strip-unneeded), or leave out embedded data"
_CHUNK_BYTES = 1 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}")


def sizes_in_mib(size_bytes: int, limit_bytes: int) -> str:
    """Return the size of a file that is too large, and the limit. The size is rounded up, so that the two differ."""
    return f"has {-(-size_bytes >> 20)} MiB, and at most {limit_bytes >> 20} MiB are allowed"


class StoreError(Exception):
    """The store cannot read or write a blob."""


class BlobTooLargeError(StoreError):
    """The file has more bytes than the limit; nothing was stored."""


class BlobMissingError(StoreError):
    """The store has no blob of that digest."""


class BlobDamagedError(StoreError):
    """The digest of a blob's stored bytes is not the digest that names the blob."""


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
        """Return the path for the blob with this digest, whether it is stored or not.

        Raises ValueError if the digest is malformed.
        """
        if not _DIGEST.fullmatch(sha256):
            raise ValueError(
                f"{sha256!r} is not a SHA-256 digest, which has 64 hexadecimal digits in lower case"
            )
        return self._root / sha256[:2] / sha256[2:4] / sha256

    def exists(self, sha256: str) -> bool:
        """Return True if a blob with this digest is stored. The blob's bytes are not read."""
        return self.path(sha256).is_file()

    def put(self, stream: BinaryIO, *, limit_bytes: int) -> Blob:
        """Store the bytes of `stream` and return their digest and size. The same bytes may be stored again.

        The file and its folders are synced to disk (fsync) before this function returns. Raises BlobTooLargeError as
        soon as more than `limit_bytes` were read, and OSError if the disk fails. The temporary file is removed in both
        cases.
        """
        incoming = self._root / "incoming"
        incoming.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = incoming / secrets.token_hex(16)
        try:
            descriptor = os.open(
                temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600
            )
            with os.fdopen(descriptor, "wb") as file:
                blob = _copy(stream, file, limit_bytes)
                os.fchmod(file.fileno(), 0o400)
                file.flush()
                os.fsync(file.fileno())
            target = self.path(blob.sha256)
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # If a damaged blob with this digest exists, this call replaces it with the correct bytes.
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        for folder in (target.parent, target.parent.parent, self._root):
            _sync_folder(folder)
        return blob

    def open(self, sha256: str) -> BinaryIO:
        """Open a blob for reading. Raises BlobMissingError.

        This function does not verify the bytes; `copy` and `verify` do.
        """
        try:
            return self.path(sha256).open("rb")
        except FileNotFoundError as error:
            raise BlobMissingError(
                f"the uploaded file with the SHA-256 {sha256} is not in {self._root}: an organiser must check that "
                "KEYDROME_VAR is the same for the site and its workers as at the time of the upload"
            ) from error

    def verify(self, sha256: str) -> None:
        """Read the whole blob and compare its digest. Raises BlobMissingError or BlobDamagedError."""
        with self.open(sha256) as stream:
            digest = hashlib.sha256()
            while chunk := stream.read(_CHUNK_BYTES):
                digest.update(chunk)
        _compare(sha256, digest.hexdigest())

    def copy(self, sha256: str, target: Path, *, mode: int) -> None:
        """Copy a blob to the new file `target` and verify the digest of the copied bytes.

        Raises BlobMissingError or FileExistsError. If the digest differs, removes the copy and raises BlobDamagedError.
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
                f"the file is larger than the limit of {limit_bytes >> 20} MiB: {MAKE_SMALLER}"
            )
        digest.update(chunk)
        file.write(chunk)
    return Blob(digest.hexdigest(), size)


def _compare(expected: str, found: str) -> None:
    if expected != found:
        raise BlobDamagedError(
            f"the stored copy of the uploaded file is damaged: its SHA-256 is {found}, but was {expected}: upload the "
            "file again"
        )


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
