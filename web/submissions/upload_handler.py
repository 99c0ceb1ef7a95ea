"""Keeps files that are too large off the disk, and still lets the form say so in its own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, SkipFile

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile
    from django.http import HttpRequest

FLAG = "keydrome_upload_too_large"


class SizeLimitHandler(FileUploadHandler):
    """First of the upload handlers: counts bytes and drops a file once it passes the limit.

    The rest of the body is read and thrown away, so that the browser gets an answer instead of a broken connection.
    """

    def __init__(self, request: HttpRequest | None = None) -> None:
        super().__init__(request)
        self.received = 0

    def new_file(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Django's signature
        """Start counting the next file."""
        super().new_file(*args, **kwargs)
        self.received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Hand the chunk on while the file is within the limit."""
        self.received += len(raw_data)
        if self.received > settings.KEYDROME_UPLOAD_BYTES:
            setattr(self.request, FLAG, True)
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> UploadedFile[bytes] | None:
        """Leave the file to the handlers after this one."""
        return None


def was_too_large(request: HttpRequest) -> bool:
    """Whether a file of this request was dropped for its size. Reads the body first."""
    _ = request.FILES
    return getattr(request, FLAG, False)
