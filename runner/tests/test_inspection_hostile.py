"""Tests of inspection with damaged files. Inspection checks a library file without running it.

For any bytes in the file, inspection must return soon, and its caller must survive.
"""

from __future__ import annotations

import struct
import time
from dataclasses import replace
from pathlib import Path  # noqa: TC003 - Hypothesis evaluates the annotations
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from runner.inspection.library import WALL_SECONDS, LibraryFacts, inspect_library
from runner.settings import Settings  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow  # each example starts a process

PT_DYNAMIC = 2
DT_GNU_HASH = 0x6FFFFEF5
DT_VERNEEDNUM = 0x6FFFFFFF
DT_STRSZ = 10

# Half of the patches are in the first 5 % of the file, where the headers are.
patches = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True) | st.floats(0, 0.05), st.binary(min_size=1, max_size=8)
    ),
    min_size=1,
    max_size=12,
)


@given(patches=patches, kept=st.floats(0, 1) | st.just(1.0))
@example(patches=[(0.0, b"\x7fELF\x02\x01\x01")], kept=1.0)
@hypothesis_settings(
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_damage_gets_an_answer(
    patches: list[tuple[float, bytes]],
    kept: float,
    good_library: Path,
    tmp_path: Path,
    settings: Settings,
) -> None:
    content = bytearray(good_library.read_bytes())
    for place, data in patches:
        offset = int(place * len(content))
        content[offset : offset + len(data)] = data
    path = tmp_path / "damaged.so"
    path.write_bytes(content[: int(kept * len(content))])
    began = time.monotonic()
    facts = inspect_library(path, settings)
    assert isinstance(facts, LibraryFacts)
    assert all(refusal.problem and refusal.remedy for refusal in facts.refusals)
    assert time.monotonic() - began < WALL_SECONDS + 5


def dynamic_entries(content: bytes | bytearray) -> dict[int, int]:
    """Map the tag of each dynamic entry to the file offset of its value."""
    (start,) = struct.unpack_from("<Q", content, 32)
    (count,) = struct.unpack_from("<H", content, 56)
    for header in range(start, start + 56 * count, 56):
        kind, _flags, offset, _vaddr, _paddr, size = struct.unpack_from("<IIQQQQ", content, header)
        if kind == PT_DYNAMIC:
            entries = range(offset, offset + size, 16)
            return {struct.unpack_from("<q", content, at)[0]: at + 8 for at in entries}
    raise AssertionError("the library has no dynamic segment")


def inspect_changed(
    library: Path, tmp_path: Path, settings: Settings, change: Callable[[bytearray], None]
) -> LibraryFacts:
    content = bytearray(library.read_bytes())
    change(content)
    path = tmp_path / "changed.so"
    path.write_bytes(content)
    return inspect_library(path, settings)


def test_an_endless_hash_chain_is_cut_by_the_processor_limit(
    good_library: Path, tmp_path: Path, settings: Settings
) -> None:
    """A hash chain of 2 GiB takes its reader a minute on a fast machine. The CPU time limit ends the reader earlier."""
    content = bytearray(good_library.read_bytes())
    hash_at = dynamic_entries(content)[DT_GNU_HASH]
    (table,) = struct.unpack_from("<Q", content, hash_at)
    buckets, _first, bloom, _shift = struct.unpack_from("<IIII", content, table)
    first_bucket = table + 16 + 8 * bloom
    for bucket in range(buckets):
        struct.pack_into("<I", content, first_bucket + 4 * bucket, 10_000)
    path = tmp_path / "endless.so"
    path.write_bytes(content)
    with path.open("r+b") as file:
        file.truncate(2 << 30)
    began = time.monotonic()
    facts = inspect_library(path, replace(settings, library_bytes_max=4 << 30))
    assert facts.refusals
    assert facts.refusals[0].name == "inspection_limit"
    assert time.monotonic() - began < WALL_SECONDS + 5


def test_counts_beyond_reason(good_library: Path, tmp_path: Path, settings: Settings) -> None:
    entries = dynamic_entries(good_library.read_bytes())

    def huge_strings(content: bytearray) -> None:
        struct.pack_into("<Q", content, entries[DT_STRSZ], 1 << 62)

    facts = inspect_changed(good_library, tmp_path, settings, huge_strings)
    assert [refusal.name for refusal in facts.refusals] == ["malformed"]
