"""Libraries that cannot work, through the whole machine: each run ends with a verdict and a reason, the next starts."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leaderboard import services
from leaderboard.catalogue import Target
from leaderboard.models import Run, State
from leaderboard.worker import Worker, this_slot
from runner.slots import hold_local_slot
from runner.tests.conftest import GOOD
from tests.binaries import built_settings, library

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[1]
PHASE_TIMEOUT_MS = 5_000


@pytest.fixture
def impatient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repository's benchmarks with a short time limit, so that a library that hangs is stopped soon."""
    root = tmp_path / "root"
    for name in ("benchmarks", "harness/schema", "runtime/configurations", "indexes"):
        shutil.copytree(ROOT / name, root / name)
    path = root / "benchmarks" / "unit" / "benchmark.json"
    manifest = json.loads(path.read_text())
    manifest["limits"]["smoke"]["phase_timeout_ms"] = PHASE_TIMEOUT_MS
    path.write_text(json.dumps(manifest))
    monkeypatch.setenv("KEYDROME_BUILD", str(built_settings().build))
    monkeypatch.setenv("KEYDROME_ROOT", str(root))


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


def submit(owner: User, path: Path) -> Run:
    """Submit a file through the service of the upload form; of its runs, only the unit tests stay."""
    with path.open("rb") as file:
        submission = services.submit(
            owner=owner,
            file=file,
            file_name=path.name,
            targets=[Target("sigmod2009", "preliminary1")],
            scale="smoke",
            sessions=1,
        )
    submission.runs.exclude(benchmark="unit").delete()
    return submission.runs.get()


@pytest.mark.usefixtures("impatient")
def test_each_bad_library_gets_its_verdict_and_the_queue_goes_on(
    django_user_model: type[User], tmp_path: Path
) -> None:
    owner = django_user_model.objects.create_user("alice")
    built = built_settings()
    cases = [
        (text_relocations(tmp_path), "refused", "compile every object"),
        (newer_c_library(tmp_path), "refused", "needs GLIBC_2.99 of libc.so.6"),
        (library(built, "faulty", "crash_in_constructor"), "crashed", "while the library was"),
        (library(built, "faulty", "hang_in_create"), "timed_out", "stands at operation"),
        (library(built, "faulty", "garbage_codes"), "failed", "undocumented code 77"),
        (library(built, "indexes", "global_lock"), "passed", ""),
    ]
    runs = [submit(owner, path) for path, _, _ in cases]
    with hold_local_slot() as slot:
        assert Worker(this_slot(slot)).drain() == len(cases)
    for run, (path, verdict, words) in zip(runs, cases, strict=True):
        run.refresh_from_db()
        assert (run.state, run.verdict, run.attempt) == (State.DONE, verdict, 1), run.reason
        assert words in run.reason, path.name
        assert bool(run.reason) == (verdict != "passed")
        assert run.detail is not None
