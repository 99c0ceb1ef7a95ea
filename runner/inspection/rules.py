"""Checks the rules that a library file must meet to be run, and writes the message for each broken rule.

This code runs in the process of child.py, which has resource limits.
"""

from __future__ import annotations

import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from runner.inspection.image import BIND_UNIQUE, TYPE_IFUNC, ElfImage, Symbol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

CALLS = (
    "create",
    "openIndex",
    "closeIndex",
    "beginTransaction",
    "abortTransaction",
    "commitTransaction",
    "get",
    "getNext",
    "insertRecord",
    "deleteRecord",
)
STRUCTURE_SYMBOL = "keydrome_structure"

# The names that gcc and clang give to the runtimes of their sanitizers.
_SANITIZER_RUNTIME = re.compile(r"lib(clang_rt\.)?(asan|tsan|lsan)\b.*\.so.*")
_HEADER_BYTES = 64
_MACHINES = {3: "32-bit x86", 40: "32-bit Arm", 62: "x86-64", 183: "Arm64", 243: "RISC-V"}
_HOST_MACHINES = {"x86_64": 62, "aarch64": 183}
_FLAG_EXECUTE, _FLAG_WRITE = 1, 2
_FLAGS_TEXTREL, _FLAGS_STATIC_TLS = 4, 16
_FLAGS1_NOOPEN, _FLAGS1_PIE = 0x40, 0x8000000
_POINTER_BYTES = 8
_LINK_OR_COPY_AGAIN = (
    "link the library again, or, if this is a copy of an undamaged file, copy that file again"
)

_OTHER_FORMATS = (
    (b"!<arch>", "a static archive (.a)"),
    (b"MZ", "a Windows DLL or program"),
    (b"\xcf\xfa\xed\xfe", "a macOS library"),
    (b"\xca\xfe\xba\xbe", "a macOS universal library or a Java class"),
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"#!", "a script"),
)
_FORBIDDEN_TAGS = {
    "DT_RPATH": "a run-time search path (RPATH)",
    "DT_RUNPATH": "a run-time search path (RUNPATH)",
    "DT_AUDIT": "an audit library",
    "DT_DEPAUDIT": "an audit library",
    "DT_FILTER": "a filter library",
    "DT_AUXILIARY": "an auxiliary filter library",
    "DT_CONFIG": "a loader configuration file",
}
# Imports that an index does not need. If a library has them, organisers see a hint, which has no effect on the verdict.
# The jail, the sandbox in which the library runs, restricts such calls.
_NOTED_IMPORTS = frozenset(
    {
        *("accept", "bind", "connect", "socket"),
        *("execl", "execle", "execlp", "execv", "execve", "execvp", "posix_spawn", "system"),
        *("fork", "vfork", "kill", "signal", "sigaction", "ptrace"),
        *("process_vm_readv", "process_vm_writev", "userfaultfd", "syscall"),
        *("mprotect", "pkey_mprotect", "dlopen", "dlmopen", "clock_settime"),
    }
)
# Functions of the C library that an uploaded library should not define itself. If it does, organisers see a hint, which
# has no effect on the verdict.
_NOTED_DEFINITIONS = frozenset(
    {
        *("malloc", "calloc", "realloc", "free", "memcpy", "mmap"),
        *("clock_gettime", "gettimeofday", "pthread_create", "dlsym", "exit"),
        *("open", "close", "read", "write", "sendmsg", "recvmsg"),
    }
)

Refusals = list[dict[str, str]]


def inspect_stream(
    stream: BinaryIO, size: int, allowed: Collection[str], folders: Iterable[str]
) -> dict[str, Any]:
    """Return the facts about the library in `stream` as JSON; library.LibraryFacts has the fields.

    `allowed` contains the shared objects that the library may link against. `folders` contains this machine's library
    folders. The function does not catch errors of the ELF reader; the caller turns them into the refusal "malformed".
    """
    head = stream.read(_HEADER_BYTES)
    refusals = list(_check_header(head, size))
    if refusals:
        return {"kind": "unknown", "refusals": refusals}
    stream.seek(0)
    image = ElfImage(stream, size)
    refusals += _check_type(image)
    if refusals:
        return {"kind": "unknown", "refusals": refusals}
    symbols = list(image.symbols())
    defined = {symbol.name for symbol in symbols if symbol.callable}
    missing = [name for name in CALLS if name not in defined]
    kind = "index" if not missing else "structure" if STRUCTURE_SYMBOL in defined else "unknown"
    needed = image.tag_strings("DT_NEEDED")
    versions = sorted(set(image.versions_needed()))
    refusals += _check_segments(image, size)
    refusals += _check_dynamic(image)
    refusals += _check_needed(needed, allowed)
    refusals += _check_versions(versions, set(needed) & set(allowed), list(folders))
    if kind == "unknown":
        refusals += _check_symbols(missing, symbols)
    return {
        "kind": kind,
        "soname": next(iter(image.tag_strings("DT_SONAME")), ""),
        "needed": needed,
        "versions": _newest(versions),
        "calls": [name for name in CALLS if name in defined],
        "missing": missing,
        "extensions": sorted(name for name in defined if name.startswith("keydrome_")),
        "risk_flags": _risk_flags(image, symbols),
        "refusals": refusals,
    }


def _refusal(name: str, problem: str, remedy: str) -> dict[str, str]:
    return {"name": name, "problem": problem, "remedy": remedy}


def _check_header(head: bytes, size: int) -> Iterator[dict[str, str]]:
    build = "build a shared object with gcc -O2 -shared -fPIC ... -o NAME.so"
    if size == 0:
        remedy = f"{build}; or, if this is a copy of a larger file, copy that file again"
        yield _refusal("empty_file", "the file has 0 bytes", remedy)
    elif head[:4] != b"\x7fELF":
        guess = next((what for magic, what in _OTHER_FORMATS if head.startswith(magic)), "")
        text = guess or ("a text file" if _looks_like_text(head) else "")
        problem = "the file is not an ELF file" + (f"; it looks like {text}" if text else "")
        yield _refusal("not_elf", problem, f"{build} (on Linux)")
    elif len(head) < _HEADER_BYTES:
        yield _refusal("malformed", "the file ends inside the ELF header", _LINK_OR_COPY_AGAIN)
    else:
        host = _HOST_MACHINES.get(platform.machine(), 0)
        machine = int.from_bytes(head[18:20], "little")
        here = _MACHINES.get(host, platform.machine())
        if (head[4], head[5]) != (2, 1):  # ELFCLASS64, ELFDATA2LSB
            yield _wrong_class(head, here)
        elif machine != host:
            found = _MACHINES.get(machine, f"ELF machine {machine}")
            problem = f"the library is for {found}, but this machine runs {here}"
            yield _refusal("wrong_machine", problem, f"compile for {here}")


def _wrong_class(head: bytes, here: str) -> dict[str, str]:
    if head[4] not in {1, 2} or head[5] not in {1, 2}:
        problem = f"the ELF header is damaged: class {head[4]} and byte order {head[5]}, but each must be 1 or 2"
        return _refusal("wrong_class", problem, _LINK_OR_COPY_AGAIN)
    word = "32-bit" if head[4] == 1 else "big-endian"
    problem = f"the library is {word}, but this machine runs {here}"
    return _refusal("wrong_class", problem, f"compile for {here} (on a PC: gcc -m64)")


def _looks_like_text(head: bytes) -> bool:
    return head.isascii() and all(c.isprintable() or c in "\t\n\r" for c in head.decode("ascii"))


def _check_type(image: ElfImage) -> Iterator[dict[str, str]]:
    link = "link a shared object with gcc -shared -fPIC ... -o NAME.so"
    kind = image.type_name()
    if kind == "ET_REL":
        yield _refusal("not_shared", "the file is an object file, not a shared object", link)
    elif kind != "ET_DYN":
        yield _refusal("not_shared", f"the file is a program ({kind}), not a shared object", link)
    elif any(s.p_type == "PT_INTERP" for s in image.segments) or (
        image.tag("DT_FLAGS_1") & _FLAGS1_PIE
    ):
        yield _refusal("not_shared", "the file is a program (PIE), not a shared object", link)
    elif not image.is_dynamic:
        problem = "the file has no dynamic segment, so the loader cannot load it"
        yield _refusal("not_shared", problem, link)


def _check_segments(image: ElfImage, size: int) -> Iterator[dict[str, str]]:
    stack = [s for s in image.segments if s.p_type == "PT_GNU_STACK"]
    if not stack or stack[0].p_flags & _FLAG_EXECUTE:
        yield _refusal(
            "executable_stack",
            "the library requests an executable stack, so code could be changed at run time",
            "avoid nested functions and trampolines, mark assembler files with "
            '.section .note.GNU-stack,"",@progbits, and link with -z noexecstack',
        )
    for segment in image.segments:
        if segment.p_type != "PT_LOAD":
            continue
        if segment.p_offset + segment.p_filesz > size:
            end = segment.p_offset + segment.p_filesz
            problem = f"the file is truncated: a segment ends at byte {end}, but the file has {size} bytes"
            yield _refusal("malformed", problem, _LINK_OR_COPY_AGAIN)
            break
    both = _FLAG_EXECUTE | _FLAG_WRITE
    if any(s.p_type == "PT_LOAD" and s.p_flags & both == both for s in image.segments):
        yield _refusal(
            "writable_code",
            "a segment is both writable and executable, so code could be changed at run time",
            "link without -N (--omagic) and without a linker script that merges .text and .data",
        )


def _check_dynamic(image: ElfImage) -> Iterator[dict[str, str]]:
    if "DT_TEXTREL" in image.tags or image.tag("DT_FLAGS") & _FLAGS_TEXTREL:
        yield _refusal(
            "text_relocations",
            "the library has text relocations: the loader would have to write into the library's code",
            "compile every object and every static library in it with -fPIC",
        )
    for tag, what in _FORBIDDEN_TAGS.items():
        if tag in image.tags:
            paths = ", ".join(map(repr, image.tag_strings(tag)))
            remedy = "link without it (no -rpath, --audit, --filter, --auxiliary)"
            problem = (
                f"the library contains {what}, {paths}, but must not choose what the loader loads"
            )
            yield _refusal("forbidden_entry", problem, remedy)
    if image.tag("DT_FLAGS_1") & _FLAGS1_NOOPEN:
        problem = "the library forbids dlopen (DF_1_NOOPEN), with which Keydrome loads it"
        yield _refusal("forbidden_entry", problem, "link without -z nodlopen")


def sanitizer_runtimes(needed: Collection[str]) -> tuple[str, ...]:
    """Return the names that are runtimes of sanitizers. A process must load such a runtime before any library."""
    return tuple(name for name in needed if _SANITIZER_RUNTIME.fullmatch(name))


def _check_needed(needed: list[str], allowed: Collection[str]) -> Iterator[dict[str, str]]:
    odd = [name for name in needed if name not in allowed]
    sanitizers = sanitizer_runtimes(odd)
    if sanitizers:
        yield _refusal(
            "needed_library",
            f"the library needs {', '.join(sanitizers)}, the runtime of a sanitizer, which the jail (sandbox) does not "
            "provide",
            "build the library without -fsanitize; `keydrome debug` plays a session with the sanitizer on your own "
            "machine",
        )
    elif odd:
        yield _refusal(
            "needed_library",
            f"the library links against {', '.join(map(repr, odd))}, which the jail (sandbox) does not provide",
            f"the jail provides only {', '.join(sorted(allowed))}; link all other libraries statically",
        )


def _check_versions(
    versions: list[tuple[str, str]], libraries: set[str], folders: list[str]
) -> Iterator[dict[str, str]]:
    for library in sorted(libraries):
        wanted = [version for name, version in versions if name == library]
        path = next((p for p in (Path(f) / library for f in folders) if p.is_file()), None)
        if path is None:
            problem = f"the library needs {library}, which is not installed on this machine"
            yield _refusal(
                "missing_library",
                problem,
                f"install {library} (on a site: ask an organiser to install it), or link it statically",
            )
            continue
        if not wanted:
            continue
        with path.open("rb") as stream:
            have = ElfImage(stream, path.stat().st_size).versions_defined()
        newer = sorted((v for v in wanted if v not in have), key=_version_key)
        if newer:
            prefix = newer[-1].rsplit("_", 1)[0]
            ours = max(
                (v for v in have if v.rsplit("_", 1)[0] == prefix), key=_version_key, default=""
            )
            yield _refusal(
                "newer_library",
                f"the library needs version {newer[-1]} of {library}, but this machine has "
                + (f"at most {ours}" if ours else f"no version with the prefix {prefix}"),
                f"build on {_distribution()} or an older system, for example in a container"
                + (", or link with -static-libstdc++ -static-libgcc" if "++" in library else ""),
            )


def _check_symbols(missing: list[str], symbols: list[Symbol]) -> Iterator[dict[str, str]]:
    if len(missing) == len(CALLS):
        problem = (
            f"the library exports none of the ten calls of keydrome/index.h ({', '.join(missing)})"
        )
    else:
        problem = f"the library does not export {', '.join(missing)}"
    mangled = [
        symbol.name
        for symbol in symbols
        if symbol.defined and any(symbol.name.startswith(f"_Z{len(n)}{n}") for n in missing)
    ]
    if mangled:
        remedy = (
            f'the library has C++ names such as {mangled[0]}: declare the calls extern "C", '
            "for example by including keydrome/index.h"
        )
    else:
        remedy = (
            "define and export all ten calls (no static, no -fvisibility=hidden, no version script that hides them); "
            f"if the file is a structure (a data structure without transactions), export {STRUCTURE_SYMBOL} instead"
        )
    yield _refusal("missing_symbol", problem, remedy)


def _risk_flags(image: ElfImage, symbols: list[Symbol]) -> list[str]:
    """Return hints for organisers about unusual properties of the file. They have no effect on the verdict."""
    flags = []
    if any(symbol.kind == TYPE_IFUNC and symbol.defined for symbol in symbols):
        flags.append(
            "ifunc: the library chooses a function by running its own code while it is being loaded"
        )
    if any(symbol.bind == BIND_UNIQUE for symbol in symbols):
        flags.append(
            "unique: all libraries in the process share the library's unique symbols (STB_GNU_UNIQUE)"
        )
    constructors = image.tag("DT_INIT_ARRAYSZ") // _POINTER_BYTES
    if constructors > 1:  # one is the compiler's own
        flags.append(
            f"constructors: {constructors} functions in .init_array run before the first call"
        )
    if image.tag("DT_FLAGS") & _FLAGS_STATIC_TLS:
        flags.append(
            "static_tls: the library uses the static model of thread-local storage, for which a process has little "
            "space"
        )
    imports = sorted(s.name for s in symbols if not s.defined and s.name in _NOTED_IMPORTS)
    if imports:
        flags.append(
            f"imports: {', '.join(imports)}; an index does not need these functions, and the jail restricts them"
        )
    taken = sorted(s.name for s in symbols if s.defined and s.name in _NOTED_DEFINITIONS)
    if taken:
        flags.append(
            f"defines: {', '.join(taken)}; the library replaces these functions of the C library"
        )
    return flags


def _newest(versions: list[tuple[str, str]]) -> dict[str, str]:
    newest: dict[str, str] = {}
    for library, version in versions:
        known = newest.get(library)
        if known is None or _version_key(version) > _version_key(known):
            newest[library] = version
    return newest


def _version_key(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"[0-9]{1,9}", version))


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "this machine's system")
    except OSError:
        return "this machine's system"
