"""Stops storing an uploaded file that exceeds the size limit, so that uploads cannot fill the disk.

The upload form (forms.py) then reports that the file is too large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, SkipFile

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile
    from django.http import HttpRequest

FLAG = "keydrome_upload_too_large"


class SizeLimitHandler(FileUploadHandler):
    """The first upload handler: counts the bytes of a file, and discards the file if it exceeds the limit.

    The rest of the request is still read, so that the browser receives a response instead of a broken connection.
    """

    def __init__(self, request: HttpRequest | None = None) -> None:
        super().__init__(request)
        self.received = 0

    def new_file(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Django's signature
        """Start counting the next file."""
        super().new_file(*args, **kwargs)
        self.received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Pass the chunk to the next handler, or raise SkipFile if the file is larger than the limit."""
        self.received += len(raw_data)
        if self.received > settings.KEYDROME_UPLOAD_BYTES:
            setattr(self.request, FLAG, True)
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> UploadedFile[bytes] | None:
        """Return None, so that Django takes the file from the next handler, which has stored the chunks."""
        return None


def was_too_large(request: HttpRequest) -> bool:
    """Read the request's body; return True if a file in it was discarded because of its size."""
    _ = request.FILES
    return getattr(request, FLAG, False)
