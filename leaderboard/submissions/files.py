"""Opens submitted files for download. The caller must have checked that the viewer may read the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from runner.settings import load_settings
from runner.store import BlobMissingError, BlobStore

if TYPE_CHECKING:
    from leaderboard.models import Submission


def open_library(submission: Submission) -> BinaryIO | None:
    """Open the submitted file for reading. Return None if the file is not in the store (an organiser removed it)."""
    try:
        return BlobStore(load_settings().blobs).open(submission.blob_sha256)
    except BlobMissingError:
        return None
