"""Tests of inspection with real files. Inspection checks a library file without running it.

The compiler, the linker or a patch of a few bytes produces each problem.
"""

from __future__ import annotations

import os
import struct
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.execute import run_file
from runner.inspection import library
from runner.inspection.library import (
    LibraryFacts,
    LibraryKind,
    Refusal,
    inspect_library,
    refusals_text,
)
from runner.manifest import parse_benchmark
from runner.request import Request
from runner.terms import JailLevel, Scale, Verdict
from runner.tests.conftest import GOOD
from runner.tests.samples import MANIFEST

if TYPE_CHECKING:
    from pathlib import Path

    from runner.settings import Settings
    from runner.tests.conftest import Compile

PROGRAM_HEADER_BYTES = 56
PT_LOAD = 1


def refusal(facts: LibraryFacts, name: str) -> str:
    """Return the text of the only refusal, and check that it has the given name."""
    assert [r.name for r in facts.refusals] == [name], facts.refusals
    assert facts.refusals[0].remedy
    return str(facts.refusals[0])


def patched(source: Path, target: Path, offset: int, data: bytes) -> Path:
    content = bytearray(source.read_bytes())
    content[offset : offset + len(data)] = data
    target.write_bytes(content)
    return target


def test_a_good_library(good_library: Path, settings: Settings) -> None:
    facts = inspect_library(good_library, settings)
    assert facts.refusals == ()
    assert facts.kind is LibraryKind.INDEX
    assert len(facts.calls) == 10
    assert facts.missing == ()
    assert facts.size_bytes == good_library.stat().st_size
    assert facts.to_json()["kind"] == "index"


def test_hidden_calls_are_missing_calls(compiled: Compile, settings: Settings) -> None:
    pushed = "#pragma GCC visibility push(hidden)\n" + GOOD
    text = refusal(inspect_library(compiled(pushed), settings), "missing_symbol")
    assert "no -fvisibility=hidden" in text


def test_a_stripped_library_without_section_headers(
    good_library: Path, tmp_path: Path, settings: Settings
) -> None:
    stripped = tmp_path / "stripped.so"
    subprocess.run(["strip", "-s", str(good_library), "-o", str(stripped)], check=True)
    # Clear e_shoff, e_shnum and e_shstrndx, which the loader does not use.
    patched(stripped, stripped, 40, bytes(8))
    patched(stripped, stripped, 60, bytes(4))
    facts = inspect_library(stripped, settings)
    assert (facts.kind, facts.refusals) == (LibraryKind.INDEX, ())


def test_a_structure(compiled: Compile, settings: Settings) -> None:
    source = (
        '#include "keydrome/structure.h"\n'
        "const KeydromeStructureTable* keydrome_structure(void) { return 0; }"
    )
    facts = inspect_library(compiled(source), settings)
    assert (facts.kind, facts.refusals) == (LibraryKind.STRUCTURE, ())
    assert facts.extensions == ("keydrome_structure",)


def test_a_missing_symbol_is_named(compiled: Compile, settings: Settings) -> None:
    facts = inspect_library(
        compiled(
            GOOD.replace("getNext", "getNxt").replace(
                '#include "keydrome/index.h"',
                '#include "keydrome/index.h"\nErrCode getNxt(IdxState*, TxnState*, Record*);',
            )
        ),
        settings,
    )
    assert "does not export getNext:" in refusal(facts, "missing_symbol")
    assert facts.missing == ("getNext",)


def test_no_call_at_all(compiled: Compile, settings: Settings) -> None:
    facts = inspect_library(compiled("int other(void) { return 0; }"), settings)
    assert "exports none of the ten calls" in refusal(facts, "missing_symbol")


def test_mangled_names_get_the_hint(compiled: Compile, settings: Settings) -> None:
    source = "int create(int, char*) { return 0; }"
    text = refusal(inspect_library(compiled(source, language="c++"), settings), "missing_symbol")
    assert "_Z6createiPc" in text
    assert 'extern "C"' in text


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"", "empty_file", "the file has 0 bytes"),
        (b"#include <stdio.h>\nint main() {}\n", "not_elf", "a text file"),
        (b"#!/bin/sh\necho hello\n", "not_elf", "a script"),
        (b"MZ" + bytes(100), "not_elf", "a Windows DLL"),
        (bytes(1000), "not_elf", "not an ELF file"),
        (b"\x7fELF", "malformed", "ends inside the ELF header"),
        (b"\x7fELF\x02\x01\x01" + bytes(200), "wrong_machine", "ELF machine 0"),
    ],
)
def test_files_that_are_no_library(
    content: bytes, name: str, words: str, tmp_path: Path, settings: Settings
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert words in refusal(inspect_library(path, settings), name)


def test_another_machine(good_library: Path, tmp_path: Path, settings: Settings) -> None:
    arm = patched(good_library, tmp_path / "arm.so", 18, struct.pack("<H", 183))
    text = refusal(inspect_library(arm, settings), "wrong_machine")
    assert "is for Arm64, but this machine runs x86-64" in text
    narrow = patched(good_library, tmp_path / "narrow.so", 4, b"\x01")
    assert "is 32-bit" in refusal(inspect_library(narrow, settings), "wrong_class")
    big = patched(good_library, tmp_path / "big.so", 5, b"\x02")
    assert "is big-endian" in refusal(inspect_library(big, settings), "wrong_class")


@pytest.mark.parametrize("class_and_order", [bytes(2), b"\x02\x00", b"\x03\x02", b"\x01\x09"])
def test_a_damaged_header_is_not_called_another_machine(
    class_and_order: bytes, good_library: Path, tmp_path: Path, settings: Settings
) -> None:
    damaged = patched(good_library, tmp_path / "damaged.so", 4, class_and_order)
    text = refusal(inspect_library(damaged, settings), "wrong_class")
    assert "the ELF header is damaged" in text
    assert "if this is a copy of an undamaged file, copy that file again" in text
    assert "compile for" not in text


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("-fPIE", "-pie"), "a program (PIE)"),
        (("-static",), "a program (ET_EXEC)"),
        (("-c",), "object file"),
    ],
)
def test_not_a_shared_object(
    flags: tuple[str, ...], words: str, compiled: Compile, settings: Settings
) -> None:
    program = compiled("int main(void) { return 0; }", *flags, shared=False)
    assert words in refusal(inspect_library(program, settings), "not_shared")


def test_text_relocations(compiled: Compile, settings: Settings) -> None:
    source = GOOD + '__asm__(".text\\n.quad outside\\n"); int outside;'
    library = compiled(source, "-Wl,-z,notext")
    assert "-fPIC" in refusal(inspect_library(library, settings), "text_relocations")


def test_an_executable_stack(compiled: Compile, settings: Settings) -> None:
    library = compiled(GOOD, "-Wl,-z,execstack")
    assert "-z noexecstack" in refusal(inspect_library(library, settings), "executable_stack")


def test_writable_code(good_library: Path, tmp_path: Path, settings: Settings) -> None:
    content = good_library.read_bytes()
    (start,) = struct.unpack_from("<Q", content, 32)
    (count,) = struct.unpack_from("<H", content, 56)
    headers = (start + i * PROGRAM_HEADER_BYTES for i in range(count))
    offset = next(h for h in headers if struct.unpack_from("<II", content, h) == (PT_LOAD, 5))
    path = patched(good_library, tmp_path / "rwx.so", offset + 4, struct.pack("<I", 7))
    assert "writable and executable" in refusal(inspect_library(path, settings), "writable_code")


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("-Wl,-rpath,/tmp/evil", "'/tmp/evil'"),
        ("-Wl,-rpath,/tmp/evil,--disable-new-dtags", "(RPATH), '/tmp/evil', but must not choose"),
        ("-Wl,--audit,evil.so", "an audit library, 'evil.so'"),
        ("-Wl,--filter,evil.so", "a filter library, 'evil.so'"),
        ("-Wl,--auxiliary,evil.so", "an auxiliary filter library, 'evil.so'"),
        ("-Wl,-z,nodlopen", "forbids dlopen"),
    ],
)
def test_entries_that_control_the_loader(
    flag: str, words: str, compiled: Compile, settings: Settings
) -> None:
    assert words in refusal(inspect_library(compiled(GOOD, flag), settings), "forbidden_entry")


def test_a_needed_library_that_the_jail_lacks(compiled: Compile, settings: Settings) -> None:
    odd = compiled("int odd(void) { return 0; }", "-Wl,-soname,libodd.so.7", name="libodd.so")
    library = compiled(GOOD + "int odd(void); int use(void) { return odd(); }", str(odd))
    text = refusal(inspect_library(library, settings), "needed_library")
    assert "'libodd.so.7'" in text
    assert "link all other libraries statically" in text


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_a_sanitizer_is_refused_with_another_way(
    sanitizer: str, compiled: Compile, settings: Settings
) -> None:
    library = compiled(GOOD, f"-fsanitize={sanitizer}")
    text = refusal(inspect_library(library, settings), "needed_library")
    assert "the runtime of a sanitizer, which the jail (sandbox) does not provide" in text
    assert "build the library without -fsanitize; `keydrome debug`" in text


def links_berkeley_db(compiled: Compile) -> Path:
    source = (
        GOOD
        + "int db_version(int*, int*, int*); int use(void) { return db_version(0, 0, 0) != 0; }"
    )
    return compiled(source, "-Wl,--no-as-needed", "-l:libdb-5.3.so")


def test_every_library_may_link_against_berkeley_db(compiled: Compile, settings: Settings) -> None:
    assert inspect_library(links_berkeley_db(compiled), settings).refusals == ()


def test_only_trusted_libraries_may_link_like_reference_libraries(
    compiled: Compile, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fewer = library.ALLOWED_NEEDED - {"libdb-5.3.so"}
    monkeypatch.setattr(library, "ALLOWED_NEEDED", fewer)
    file = links_berkeley_db(compiled)
    assert "libdb-5.3.so" in refusal(inspect_library(file, settings), "needed_library")
    assert inspect_library(file, settings, trusted=True).refusals == ()


def test_names_in_the_file_cannot_control_a_terminal_or_page(
    compiled: Compile, tmp_path: Path, settings: Settings
) -> None:
    built = compiled("int _Z6createABCDEF(void) { return 0; }", "-Wl,-soname,mine.ABC")
    odd = tmp_path / "odd.so"
    content = built.read_bytes().replace(b"createABCDEF\0", b"create\x1b[31m\n\0")
    odd.write_bytes(content.replace(b"mine.ABC\0", b"mine\xe2\x80\xae\r\0"))
    facts = inspect_library(odd, settings)
    text = refusal(facts, "missing_symbol") + facts.soname
    assert "_Z6create\ufffd[31m" in text
    assert "mine\ufffd\ufffd" in text
    assert not [sign for sign in ("\x1b", "\u202e", "\r") if sign in text]


def test_endless_names_are_bounded(compiled: Compile, settings: Settings) -> None:
    long = compiled(f"int _Z6create{'x' * 30_000}(void) {{ return 0; }}")
    text = refusal(inspect_library(long, settings), "missing_symbol")
    assert len(text) < 2000
    assert "characters left out" in text
    needy = [f"-Wl,-soname,{'y' * 30_000}{i}" for i in range(3)]
    others = [compiled("int other;", option, name=f"y{i}.so") for i, option in enumerate(needy)]
    library = compiled(GOOD, "-Wl,--no-as-needed", *map(str, others))
    text = refusal(inspect_library(library, settings), "too_many_names")
    assert "the names that the library imports and exports take" in text


def test_a_newer_c_library(compiled: Compile, settings: Settings, tmp_path: Path) -> None:
    script = tmp_path / "versions"
    script.write_text("GLIBC_2.99 { global: brand_new; };")
    fake = compiled(
        "int brand_new(void) { return 0; }",
        "-nostdlib",
        "-Wl,-soname,libc.so.6",
        f"-Wl,--version-script,{script}",
        name="libfake.so",
    )
    source = GOOD + "int brand_new(void); int use(void) { return brand_new(); }"
    library = compiled(source, "-nostdlib", str(fake))
    facts = inspect_library(library, settings)
    text = refusal(facts, "newer_library")
    assert "needs version GLIBC_2.99 of libc.so.6, but this machine has at most GLIBC_2." in text
    assert dict(facts.versions) == {"libc.so.6": "GLIBC_2.99"}


def test_a_truncated_library(good_library: Path, tmp_path: Path, settings: Settings) -> None:
    content = good_library.read_bytes()
    for share in (0.1, 0.5, 0.7):
        path = tmp_path / "cut.so"
        path.write_bytes(content[: int(len(content) * share)])
        assert inspect_library(path, settings).refusals[0].name == "malformed"


def test_200_megabytes(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "big.so"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    text = refusal(inspect_library(path, settings), "too_large")
    assert "191 MiB, and at most 64 MiB are allowed" in text
    small = replace(settings, library_bytes_max=1024)
    path.write_bytes(bytes(1025))
    refusal(inspect_library(path, small), "too_large")


def test_a_pipe_and_a_folder_do_not_hang(tmp_path: Path, settings: Settings) -> None:
    os.mkfifo(tmp_path / "pipe")
    refusal(inspect_library(tmp_path / "pipe", settings), "not_a_file")
    refusal(inspect_library(tmp_path, settings), "not_a_file")


def test_a_busy_machine_is_no_fault_of_the_file(
    good_library: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is at fault if the process that reads it uses up its CPU time, but not if the process is stopped."""
    monkeypatch.setattr(library, "WALL_SECONDS", 0.1)
    monkeypatch.setattr(library, "_READER", ("/bin/sh", "-c", "kill -STOP $$"))
    facts = inspect_library(good_library, settings)
    assert "the file is not at fault" in refusal(facts, library.UNFINISHED)
    assert facts.is_unfinished
    monkeypatch.setattr(library, "WALL_SECONDS", 60)
    monkeypatch.setattr(library, "_READER", ("/bin/sh", "-c", "kill -KILL $$"))
    refusal(inspect_library(good_library, settings), library.UNFINISHED)
    monkeypatch.setattr(library, "_READER", ("/bin/sh", "-c", "kill -XCPU $$"))
    facts = inspect_library(good_library, settings)
    assert "CPU time" in refusal(facts, "inspection_limit")
    assert not facts.is_unfinished


def test_a_run_on_a_busy_machine_ends_as_infrastructure(
    good_library: Path, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "_READER", ("/bin/sh", "-c", "kill -KILL $$"))
    request = Request(
        benchmark=parse_benchmark(MANIFEST, "sample"),
        instance="small",
        scale=Scale.SMOKE,
        overrides={},
        seeds=("00000000000000aa",),
        plain=False,
        require=JailLevel.NONE,
        control=False,
    )
    result, facts = run_file(good_library, request, settings, tmp_path, lambda _progress: True)
    assert (result.verdict, result.findings) == (Verdict.INFRASTRUCTURE, ())
    assert "the machine could not finish the inspection" in result.reason
    assert facts.is_unfinished


def test_a_name_with_newlines_is_only_a_name(
    good_library: Path, tmp_path: Path, settings: Settings
) -> None:
    path = tmp_path / "new\nline:\u202e.so"
    path.write_bytes(good_library.read_bytes())
    assert inspect_library(path, settings).refusals == ()


def test_risks_are_noted_and_refuse_nothing(compiled: Compile, settings: Settings) -> None:
    source = GOOD + (
        "#include <unistd.h>\n"
        "static int one(void) { return 1; }\n"
        "static void* choose(void) { return one; }\n"
        'int chosen(void) __attribute__((ifunc("choose")));\n'
        "__attribute__((constructor)) static void first(void) { if (fork() == 0) _exit(0); }\n"
        "void* malloc(unsigned long n) { (void)n; return 0; }\n"
    )
    facts = inspect_library(compiled(source, "-fno-builtin"), settings)
    assert facts.refusals == ()
    kinds = [flag.split(":")[0] for flag in facts.risk_flags]
    assert kinds == ["ifunc", "constructors", "imports", "defines"]
    starts = [flag.partition("; ")[0] for flag in facts.risk_flags]
    assert "imports: fork" in starts
    assert "defines: malloc" in starts


def test_several_problems_are_numbered() -> None:
    one, two = Refusal("a", "it is too old", "build it again"), Refusal("b", "x", "do y; or z")
    assert refusals_text([one]) == "it is too old: build it again"
    assert refusals_text([one, two]) == (
        "2 problems: (1) it is too old: build it again; (2) x: do y; or z"
    )
    assert refusals_text([]) == ""
