"""Tests that the compiler and the linker protect all programs that read untrusted bytes.

The tests look in the built programs for random addresses, read-only tables, checks of stacks and buffers, and marked
targets of jumps.
"""

import re
from collections.abc import Iterator

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tests.binaries import built_settings

PROGRAMS = ["driver", "jail", "player", "referee"]
# The jail is linked with musl (docs/decisions/0018-jail-on-musl.md).
WITH_GLIBC = ["driver", "player", "referee"]
EXECUTE, WRITE = 1, 2
BIND_NOW, NOW, PIE = 8, 1, 0x08000000
ENDBR64 = b"\xf3\x0f\x1e\xfa"


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> Iterator[ELFFile]:
    with (built_settings().build / "bin" / request.param).open("rb") as file:
        yield ELFFile(file)


def symbols(program: ELFFile) -> set[str]:
    tables = [s for s in program.iter_sections() if isinstance(s, SymbolTableSection)]
    return {symbol.name.split("@")[0] for table in tables for symbol in table.iter_symbols()}


def dynamic(program: ELFFile) -> dict[str, int]:
    section = program.get_section_by_name(".dynamic")
    assert isinstance(section, DynamicSection)
    return {tag.entry.d_tag: tag.entry.d_val for tag in section.iter_tags()}


def test_lies_at_random_addresses(program: ELFFile) -> None:
    assert program.header.e_type == "ET_DYN"
    assert dynamic(program)["DT_FLAGS_1"] & PIE
    assert "DT_TEXTREL" not in dynamic(program)


def test_tables_of_functions_are_read_only(program: ELFFile) -> None:
    assert [s for s in program.iter_segments() if s.header.p_type == "PT_GNU_RELRO"]
    tags = dynamic(program)
    assert tags.get("DT_FLAGS", 0) & BIND_NOW or tags["DT_FLAGS_1"] & NOW


def test_nothing_is_writable_and_executable(program: ELFFile) -> None:
    both = EXECUTE | WRITE
    segments = list(program.iter_segments())
    assert [s for s in segments if s.header.p_type == "PT_GNU_STACK"]
    assert not [s for s in segments if s.header.p_flags & both == both]


def test_stacks_are_checked(program: ELFFile) -> None:
    assert "__stack_chk_fail" in symbols(program)


@pytest.mark.parametrize("program", WITH_GLIBC, indirect=True)
def test_buffers_are_checked(program: ELFFile) -> None:
    assert [name for name in symbols(program) if re.fullmatch(r"__.*_chk", name)]


def test_jumps_are_marked(program: ELFFile) -> None:
    """main begins with the instruction endbr64, which marks a valid target of a call by address."""
    table = program.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    found = table.get_symbol_by_name("main")
    assert found
    address = found[0].entry.st_value
    offset = next(iter(program.address_offsets(address)))
    program.stream.seek(offset)
    assert program.stream.read(len(ENDBR64)) == ENDBR64
