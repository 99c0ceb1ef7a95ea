"""The submitted files themselves. Whoever calls has checked that the viewer may have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from runner.settings import load_settings
from runner.store import BlobStore

if TYPE_CHECKING:
    from leaderboard.models import Submission


def open_library(submission: Submission) -> BinaryIO:
    """Open the submitted file for reading. Raises BlobMissingError when it is not in the store."""
    return BlobStore(load_settings().blobs).open(submission.blob_sha256)
