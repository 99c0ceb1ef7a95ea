"""Makes damaged library files, which the battery of attacks uploads.

Each function of FORGED damages the file of the honest library, a correct library without an attack.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SEGMENTS_AT, _MACHINE_AT, _COUNT_AT = 32, 18, 56  # in the ELF header: e_phoff, e_machine, e_phnum
_SEGMENT = struct.Struct("<IIQQQQQQ")
_LOAD, _DYNAMIC = 1, 2  # PT_LOAD, PT_DYNAMIC
_EXECUTE, _WRITE = 1, 2  # PF_X, PF_W
_ARM64 = 183


def cut_off(honest: bytes) -> bytes:
    """Return the first half of the file."""
    return honest[: len(honest) // 2]


def far_tables(honest: bytes) -> bytes:
    """Return the file with the table of segments far beyond the end."""
    return _patched(honest, _SEGMENTS_AT, struct.pack("<Q", 1 << 62))


def many_segments(honest: bytes) -> bytes:
    """Return the file with a header that declares the largest possible number of segments."""
    return _patched(honest, _COUNT_AT, b"\xff\xff")


def noise(honest: bytes) -> bytes:
    """Return the file with a pattern instead of its dynamic segment."""
    for _, kind, _, offset, size in _segments(honest):
        if kind == _DYNAMIC:
            return _patched(honest, offset, (bytes(range(1, 256)) * size)[:size])
    raise ValueError(
        "the honest library has no dynamic segment, which this case must damage: run ./dev build"
    )


def writable_code(honest: bytes) -> bytes:
    """Return the file with a writable code segment."""
    for at, kind, flags, _, _ in _segments(honest):
        if kind == _LOAD and flags & _EXECUTE:
            return _patched(honest, at + 4, struct.pack("<I", flags | _WRITE))
    raise ValueError(
        "the honest library has no executable segment, which this case must damage: run ./dev build"
    )


def other_machine(honest: bytes) -> bytes:
    """Return the file with a header that names 64-bit Arm as the processor."""
    return _patched(honest, _MACHINE_AT, struct.pack("<H", _ARM64))


FORGED: dict[str, Callable[[bytes], bytes]] = {
    make.__name__: make
    for make in (cut_off, far_tables, many_segments, noise, other_machine, writable_code)
}


def _segments(honest: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield for each segment: the position of its entry in the table, its kind, flags, offset and size in the file."""
    (begin,) = struct.unpack_from("<Q", honest, _SEGMENTS_AT)
    (count,) = struct.unpack_from("<H", honest, _COUNT_AT)
    for index in range(count):
        at = begin + index * _SEGMENT.size
        kind, flags, offset, _, _, size, _, _ = _SEGMENT.unpack_from(honest, at)
        yield at, kind, flags, offset, size


def _patched(content: bytes, at: int, by: bytes) -> bytes:
    return content[:at] + by + content[at + len(by) :]
