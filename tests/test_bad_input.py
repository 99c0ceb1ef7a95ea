"""Tests of bad input through the site and the command line.

For every kind of bad file or option, the message says what to do. A bad file gets a verdict, and the queue continues.
"""

from __future__ import annotations

import io
import json
import shutil
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from html import unescape
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli.main import main
from leaderboard.models import Run, State, Submission
from leaderboard.tests.processes import environment
from leaderboard.worker import Worker, register_slot
from runner.settings import load_settings
from runner.slots import hold_local_slot
from runner.tests.conftest import GOOD
from tests.binaries import built_settings, library
from web.tests.fixtures import logged_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client
    from pytest_django.fixtures import SettingsWrapper

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("impatient")]
ROOT = Path(__file__).resolve().parents[1]
PHASE_TIMEOUT_MS = 5_000
WAIT_SECONDS = 120
ODD_NAME = "../new\nline/\u202egood\x1b.so"


@dataclass(frozen=True)
class Bad:
    """A file that cannot be ranked: its verdict, and words that the message must contain.

    `at_once` is true if the site itself refuses the file, so that no worker runs it.
    """

    make: Callable[[Path], Path]
    verdict: str
    words: tuple[str, ...]
    at_once: bool = False


def compiled(source: str, path: Path, *flags: str) -> Path:
    """Compile C to a shared object."""
    text = path.with_suffix(".c")
    text.write_text(source)
    command = [
        "gcc",
        "-O1",
        "-shared",
        "-fPIC",
        f"-I{ROOT}/api/include",
        str(text),
        "-o",
        str(path),
    ]
    subprocess.run([*command, *flags], check=True, capture_output=True)
    return path


def containing(content: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / "content.so"
        path.write_bytes(content)
        return path

    return make


def wrong_machine(folder: Path) -> Path:
    content = bytearray(good().read_bytes())
    struct.pack_into("<H", content, 18, 183)  # e_machine: Arm64
    return containing(bytes(content))(folder)


def text_relocations(folder: Path) -> Path:
    source = GOOD + '__asm__(".text\\n.quad outside\\n"); int outside;'
    return compiled(source, folder / "relocations.so", "-Wl,-z,notext")


def newer_c_library(folder: Path) -> Path:
    script = folder / "versions"
    script.write_text("GLIBC_2.99 { global: brand_new; };")
    flags = ("-nostdlib", "-Wl,-soname,libc.so.6", f"-Wl,--version-script,{script}")
    fake = compiled("int brand_new(void) { return 0; }", folder / "libfake.so", *flags)
    source = GOOD + "int brand_new(void); int use(void) { return brand_new(); }"
    return compiled(source, folder / "newer.so", "-nostdlib", str(fake))


def faulty(name: str) -> Callable[[Path], Path]:
    return lambda _folder: library(built_settings(), "faulty", name)


def good() -> Path:
    return library(built_settings(), "indexes", "global_lock")


FILES = {
    "not_elf": Bad(
        containing(b"int main(void) { return 0; }\n"),
        "refused",
        ("not an ELF file; it looks like a text file", "gcc -O2 -shared -fPIC"),
        at_once=True,
    ),
    "empty": Bad(
        containing(b""), "refused", ("the file has 0 bytes", "copy that file again"), at_once=True
    ),
    "wrong_machine": Bad(
        wrong_machine, "refused", ("is for Arm64", "compile for x86-64"), at_once=True
    ),
    "missing_symbol": Bad(
        faulty("missing_symbol"), "refused", ("does not export", "define and export"), at_once=True
    ),
    "text_relocations": Bad(
        text_relocations, "refused", ("has text relocations", "with -fPIC"), at_once=True
    ),
    "newer_c_library": Bad(
        newer_c_library, "refused", ("needs version GLIBC_2.99 of libc.so.6", "an older system")
    ),
    "crash_in_constructor": Bad(
        faulty("crash_in_constructor"), "crashed", ("while the library was loaded",)
    ),
    "hang_in_create": Bad(faulty("hang_in_create"), "timed_out", ("create", "is at operation")),
    "garbage_codes": Bad(faulty("garbage_codes"), "failed", ("undocumented code 77",)),
}


@pytest.fixture
def impatient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the repository's benchmarks with a short time limit, so that a library that hangs is stopped soon."""
    root = tmp_path / "root"
    for name in ("benchmarks", "harness/schema", "runtime/configurations", "indexes"):
        shutil.copytree(ROOT / name, root / name)
    path = root / "benchmarks" / "unit" / "benchmark.json"
    manifest = json.loads(path.read_text())
    manifest["limits"]["smoke"]["phase_timeout_ms"] = PHASE_TIMEOUT_MS
    path.write_text(json.dumps(manifest))
    monkeypatch.setenv("KEYDROME_BUILD", str(built_settings().build))
    monkeypatch.setenv("KEYDROME_ROOT", str(root))


@pytest.fixture
def alice(django_user_model: type[User], embedded_site: None) -> Client:
    """Return a browser in which the user Alice is logged in."""
    return logged_in(django_user_model.objects.create_user("alice"))


def form(file: io.BytesIO | None, **changes: object) -> dict[str, object]:
    fields = {"description": "", "targets": ["sigmod2009/preliminary1"], "configuration": ""}
    return {**fields, **({} if file is None else {"file": file}), **changes}


def upload(browser: Client, path: Path, name: str = "") -> tuple[Run, str]:
    """Upload a file by the form, which makes one run for each benchmark; delete the queued runs except that of `unit`.

    Return the run of `unit` and the page.
    """
    file = io.BytesIO(path.read_bytes())
    file.name = name or path.name
    page = browser.post("/submit/", form(file), follow=True).content.decode()
    submission = Submission.objects.latest("id")
    submission.runs.filter(state=State.QUEUED).exclude(benchmark="unit").delete()
    return submission.runs.get(benchmark="unit"), unescape(page)


def drain() -> None:
    with hold_local_slot() as slot:
        Worker(register_slot(slot)).drain()


def assert_reported(browser: Client, run: Run, bad: Bad) -> None:
    """Check that the run has the verdict, and that its page says what is wrong and what to do."""
    run.refresh_from_db()
    assert (run.state, run.verdict) == (State.DONE, bad.verdict), run.reason
    page = unescape(browser.get(f"/runs/{run.pk}/").content.decode())
    assert [word for word in bad.words if word not in page or word not in run.reason] == []


def test_each_bad_file_gets_its_verdict_and_the_queue_continues(
    alice: Client, tmp_path: Path
) -> None:
    runs = {}
    for name, bad in FILES.items():
        runs[name], page = upload(alice, bad.make(tmp_path))
        assert ("was refused and did not run" in page) == bad.at_once, name
        assert ("Submitted. The runs below start" in page) != bad.at_once, name
        if bad.at_once:
            assert_reported(alice, runs[name], bad)
            assert [word for word in bad.words if word[1:] not in page] == []
    # A benchmark that this worker does not know, and a file name that tries to control the terminal.
    unknown, _ = upload(alice, good())
    Run.objects.filter(pk=unknown.pk).update(benchmark="fun")
    last, page = upload(alice, good(), ODD_NAME)
    assert not [sign for sign in ("\u202e", "\x1b", "new\nline") if sign in page]
    drain()
    for name, bad in FILES.items():
        assert_reported(alice, runs[name], bad)
        runs[name].refresh_from_db()
        assert runs[name].attempt == (0 if bad.at_once else 1)
    # The run waits, because another worker may have this benchmark. The status page says so.
    unknown.refresh_from_db()
    assert (unknown.state, unknown.attempt) == (State.QUEUED, 0)
    status = unescape(alice.get("/status/").content.decode())
    version = unknown.benchmark_version
    assert (
        f"need version {version} of the benchmark fun, and this worker has no benchmark of this"
        in status
    )
    last.refresh_from_db()
    assert (last.state, last.verdict, last.reason) == (State.DONE, "passed", "")


# The library that hangs is left out to save time, because the test of the queue above runs it.
@pytest.mark.parametrize("name", sorted(FILES.keys() - {"hang_in_create"}))
def test_the_command_line_reports_the_same(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = FILES[name]
    path = bad.make(tmp_path)
    status = main(["check", str(path), "--suite", "unit", "--scale", "smoke"])
    assert status == (2 if bad.verdict == "refused" else 1)
    said = " ".join(capsys.readouterr().out.replace("\N{BOX DRAWINGS LIGHT VERTICAL}", " ").split())
    assert [word for word in bad.words if word not in said] == [], said


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Choose the shared library (.so) that you have built."),
        ({"targets": []}, "Choose at least one benchmark."),
        ({"targets": ["sigmod2009/final"]}, "sigmod2009/final is not one of the available"),
        ({"configurations": ["fast"]}, "fast is not one of the available"),
    ],
)
def test_an_invalid_submission_stays_in_the_form(
    alice: Client, changes: dict[str, object], words: str
) -> None:
    file = io.BytesIO(good().read_bytes()) if changes else None
    page = alice.post("/submit/", form(file, **changes)).content.decode()
    assert words in unescape(page)
    assert not Submission.objects.exists()


class Body(io.RawIOBase):
    """The body of an upload of 200 MB, generated while it is read."""

    HEAD = b'--frontier\r\nContent-Disposition: form-data; name="file"; filename="big.so"\r\n\r\n'
    PIECE = bytes(1_000_000)
    TAIL = b"\r\n--frontier--\r\n"
    LENGTH = len(HEAD) + 200 * len(PIECE) + len(TAIL)

    def __init__(self) -> None:
        super().__init__()
        self.pieces = chain([self.HEAD], repeat(self.PIECE, 200), [self.TAIL])
        self.rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.rest = self.rest or next(self.pieces, b"")
        count = min(len(buffer), len(self.rest))
        buffer[:count], self.rest = self.rest[:count], self.rest[count:]
        return count


def test_200_megabytes(alice: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = {
        "CONTENT_TYPE": "multipart/form-data; boundary=frontier",
        "CONTENT_LENGTH": str(Body.LENGTH),
        "wsgi.input": io.BufferedReader(Body(), 1 << 20),
    }
    answer = alice.generic("POST", "/submit/", **request)
    assert answer.status_code == 413
    assert "The file is larger than 64.0" in answer.content.decode()
    assert not Submission.objects.exists()
    assert not load_settings().blobs.exists()
    big = tmp_path / "big.so"
    with big.open("wb") as file:
        file.truncate(200_000_000)
    assert main(["inspect", str(big)]) == 2
    assert "191 MiB, and at most 64 MiB are allowed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--benchmark", "fun"], "there is no benchmark 'fun'; choose one of:"),
        (["-p", "inserts_per_thread=0"], "inserts_per_thread is 0, but sigmod2009 allows 1 to"),
        (["--threads", "100000"], "threads is 100000, but sigmod2009 allows 1 to"),
    ],
)
def test_parameters_out_of_range_are_reported_with_their_range(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", str(good()), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_worker_killed_in_mid_run_is_reported_and_the_queue_continues(
    alice: Client, own_var: Path, settings: SettingsWrapper
) -> None:
    settings.KEYDROME_MAX_ATTEMPTS = 1
    run, _ = upload(alice, FILES["hang_in_create"].make(own_var))
    last, _ = upload(alice, good())
    with hold_local_slot() as slot:
        pass
    command = [sys.executable, "-m", "web.manage", "work", "--slot", str(slot)]
    worker = subprocess.Popen(command, cwd=ROOT, env=environment(own_var))
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while not run.progress_note.startswith("session 1 of 1: candidate"):
            assert time.monotonic() < deadline, (run.state, run.progress_note)
            time.sleep(0.05)
            run.refresh_from_db()
    finally:
        worker.kill()
        worker.wait()
    following = Worker(register_slot(slot))
    assert following.take_back() == [run.pk]
    following.drain()
    lost = Bad(
        FILES["hang_in_create"].make, "infrastructure", ("died", "does not try the run again")
    )
    assert_reported(alice, run, lost)
    last.refresh_from_db()
    assert last.verdict == "passed"
