"""Reads from a shared object what the dynamic loader would read: segments, dynamic entries, symbols and versions.

Like the dynamic loader, this code uses only the program headers, because section headers may be missing or wrong. The
file is untrusted. The code therefore runs in a process of its own with resource limits (child.py). If the code raises
any error, the caller reports that the file is malformed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_SYMBOL = struct.Struct("<IBBHQQ")
_VERSION_NEED = struct.Struct("<HHIII")
_VERSION_NEED_AUX = struct.Struct("<IHHII")
_VERSION_DEFINITION = struct.Struct("<HHHHIII")
_VERSION_DEFINITION_AUX = struct.Struct("<II")
_VERSION_WEAK = 2
_RECORDS_MAX = 65536

TYPE_IFUNC = 10
_CALLABLE_TYPES = {0, 2, TYPE_IFUNC}  # NOTYPE (assembler), FUNC, IFUNC
BIND_UNIQUE = 10
_VISIBLE_BINDS = {1, 2, BIND_UNIQUE}  # GLOBAL, WEAK, UNIQUE


class MalformedError(ValueError):
    """The file contradicts itself or the ELF format; the text says where."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """An entry of the dynamic symbol table. The file exports the symbol if it is defined, and imports it otherwise."""

    name: str
    kind: int
    bind: int
    defined: bool

    @property
    def callable(self) -> bool:
        """Return True if dlsym would return a function for this symbol."""
        return self.defined and self.kind in _CALLABLE_TYPES


class ElfImage:
    """A 64-bit little-endian ELF file. Methods raise MalformedError or errors of pyelftools."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._size = size
        self._elf = ELFFile(stream)
        self.segments: list[Any] = [segment.header for segment in self._elf.iter_segments()]
        self._dynamic: DynamicSegment | None = next(
            (s for s in self._elf.iter_segments("PT_DYNAMIC") if isinstance(s, DynamicSegment)),
            None,
        )
        self.tags: dict[str, list[int]] = {}
        if self._dynamic is not None:
            for tag in self._dynamic.iter_tags():
                self.tags.setdefault(str(tag.entry.d_tag), []).append(tag.entry.d_val)
        self._strings = self._read_strings()

    @property
    def is_dynamic(self) -> bool:
        """Return True if the file has a dynamic segment."""
        return self._dynamic is not None

    def type_name(self) -> str:
        """Return the name of the file's type (e_type), such as ET_DYN."""
        return str(self._elf.header.e_type)

    def tag(self, name: str) -> int:
        """Return the value of the dynamic entry of that name, or 0 if there is none."""
        return self.tags.get(name, [0])[0]

    def tag_strings(self, name: str) -> list[str]:
        """Return the strings that the dynamic entries of that name point to."""
        return [self._string(offset) for offset in self.tags.get(name, [])]

    def symbols(self) -> Iterator[Symbol]:
        """Yield the visible symbols of the dynamic symbol table."""
        if self._dynamic is None or "DT_SYMTAB" not in self.tags:
            return
        count = self._dynamic.num_symbols()
        table = self._read(self.tag("DT_SYMTAB"), count * _SYMBOL.size)
        for name, info, other, section, _value, _bytes in _SYMBOL.iter_unpack(table):
            bind = info >> 4
            # The low two bits of st_other are the visibility. Other shared objects see only symbols with 0 (default)
            # or 3 (protected).
            if name and bind in _VISIBLE_BINDS and other & 3 in {0, 3}:
                yield Symbol(self._string(name), info & 15, bind, section != 0)

    def versions_needed(self) -> Iterator[tuple[str, str]]:
        """Yield (shared object, symbol version) for every version that this file needs, except weak needs."""
        address = self.tag("DT_VERNEED")
        for _ in range(_bounded(self.tag("DT_VERNEEDNUM"), "version needs")):
            record = _VERSION_NEED.unpack(self._read(address, _VERSION_NEED.size))
            _version, count, file, first, following = record
            auxiliary = address + first
            for _ in range(count):
                record = _VERSION_NEED_AUX.unpack(self._read(auxiliary, _VERSION_NEED_AUX.size))
                _hash, flags, _other, name, step = record
                if not flags & _VERSION_WEAK:
                    yield self._string(file), self._string(name)
                auxiliary += step
            address += following

    def versions_defined(self) -> set[str]:
        """Return the names of the symbol versions that this file defines."""
        found = set()
        address = self.tag("DT_VERDEF")
        for _ in range(_bounded(self.tag("DT_VERDEFNUM"), "version definitions")):
            record = _VERSION_DEFINITION.unpack(self._read(address, _VERSION_DEFINITION.size))
            first, following = record[5], record[6]
            auxiliary = self._read(address + first, _VERSION_DEFINITION_AUX.size)
            found.add(self._string(_VERSION_DEFINITION_AUX.unpack(auxiliary)[0]))
            address += following
        return found

    def _read_strings(self) -> bytes:
        size = self.tag("DT_STRSZ")
        return self._read(self.tag("DT_STRTAB"), size) if size else b""

    def _read(self, address: int, count: int) -> bytes:
        """Return `count` bytes at a virtual address, from the loadable segment that contains them."""
        for segment in self.segments:
            if segment.p_type != "PT_LOAD":
                continue
            inside = address - segment.p_vaddr
            if inside >= 0 and inside + count <= segment.p_filesz:
                offset = segment.p_offset + inside
                if offset + count > self._size:
                    raise MalformedError(
                        f"a segment has data up to byte {offset + count}, but the file has {self._size} bytes"
                    )
                self._stream.seek(offset)
                return self._stream.read(count)
        raise MalformedError(
            f"no segment of the file contains the {count} bytes at address {address:#x}"
        )

    def _string(self, offset: int) -> str:
        end = self._strings.find(b"\0", offset)
        if offset >= len(self._strings) or end < 0:
            raise MalformedError(
                f"a name at offset {offset} does not end inside the string table, which has {len(self._strings)} bytes"
            )
        return self._strings[offset:end].decode("utf-8", "replace")


def _bounded(count: int, what: str) -> int:
    if count > _RECORDS_MAX:
        raise MalformedError(f"the file has {count} {what}, but at most {_RECORDS_MAX} are allowed")
    return count
