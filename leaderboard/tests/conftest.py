"""Defines the fixtures of the leaderboard's tests: a small repository with three benchmarks, users and a machine.

No test in this folder executes a library. Tests of the queue give the worker a substitute for the runner, because they
test which worker executes which run, and when. runner/tests and tests/test_end_to_end.py test the real runner.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.db import transaction

from leaderboard import boards, catalogue, services
from leaderboard.catalogue import Target
from leaderboard.models import Kind, Machine, Run, State, Submission
from leaderboard.queue import claims
from leaderboard.submissions import new_runs
from leaderboard.tests.inspections import inspected_once
from leaderboard.tests.reports import make_report
from leaderboard.tests.small_boards import small_boards

__all__ = ["inspected_once"]

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.contrib.auth.models import User

if "postgres" not in os.environ.get("DATABASE_URL", ""):
    # These tests need PostgreSQL. `./dev test` runs them in its suite "postgres".
    collect_ignore = [
        "test_postgres_faults.py",
        "test_postgres_queue.py",
        "test_postgres_role.py",
    ]

REPOSITORY = Path(__file__).resolve().parents[2]
LIBRARY = """
int create(void){return %d;} int openIndex(void){return 0;} int closeIndex(void){return 0;}

int beginTransaction(void){return 0;} int abortTransaction(void){return 0;}
int commitTransaction(void){return 0;} int get(void){return 0;} int getNext(void){return 0;}
int insertRecord(void){return 0;} int deleteRecord(void){return 0;}
"""


def manifest(name: str, kind: str, instances: tuple[str, ...], version: int = 1) -> dict[str, Any]:
    """Return the content of a benchmark.json with these instances, each at three scales."""
    scales = {"smoke": {"threads": 1}, "laptop": {"threads": 2}, "paper": {"threads": 4}}
    limits = {"phase_timeout_ms": 1000, "memory_bytes": 1 << 28, "tmpfs_bytes": 1 << 20}
    found: dict[str, Any] = {
        "name": name,
        "version": version,
        "kind": kind,
        "title": name.title(),
        "description": f"The benchmark {name}.",
        "source": "tests",
        "instances": {
            i: {"title": i.title(), "description": f"Instance {i}.", "scales": scales}
            for i in instances
        },
        "parameters": {
            "threads": {"unit": "threads", "min": 1, "max": 64, "description": "client threads"}
        },
        "limits": dict.fromkeys(scales, limits),
    }
    if kind == "performance":
        found["metric"] = {"name": "total_ms", "direction": "lower", "unit": "ms"}
    return found


@dataclass(frozen=True)
class Repository:
    """A repository in a temporary folder, in which tests can raise the versions of benchmarks."""

    root: Path

    def set_version(self, benchmark: str, version: int) -> None:
        """Publish a newer version of a benchmark."""
        path = self.root / "benchmarks" / benchmark / "benchmark.json"
        content = json.loads(path.read_text())
        content["version"] = version
        path.write_text(json.dumps(content))
        catalogue._load.cache_clear()


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    root = tmp_path / "repository"
    for benchmark in (
        manifest("unit", "correctness", ("unit",)),
        manifest("phantom", "correctness", ("phantom",)),
        manifest("sigmod2009", "performance", ("preliminary1", "preliminary2")),
    ):
        folder = root / "benchmarks" / benchmark["name"]
        folder.mkdir(parents=True)
        (folder / "benchmark.json").write_text(json.dumps(benchmark))
    configurations = root / "runtime" / "configurations"
    configurations.mkdir(parents=True)
    for name in ("exclusive", "rw"):
        (configurations / f"{name}.json").write_text('{"reference": true}')
    monkeypatch.setenv("KEYDROME_ROOT", str(root))
    small = small_boards()
    monkeypatch.setattr(boards, "_published", lambda: small)
    catalogue._load.cache_clear()
    yield Repository(root)
    catalogue._load.cache_clear()


@pytest.fixture(autouse=True)
def plain_settings(settings: Any, own_var: Path) -> Any:
    """Set the settings that the developer's environment might change, and use a fast password hash."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.KEYDROME_BOARD_SCALE = ""
    settings.KEYDROME_SCALE = "paper"
    settings.KEYDROME_SESSIONS = 15
    settings.KEYDROME_MAX_ATTEMPTS = 3
    settings.KEYDROME_LEASE_SECONDS = 60
    settings.KEYDROME_RECORD_ONE_IN = 0
    settings.KEYDROME_AUDIT_ONE_IN = 0
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(own_var / "artefacts")},
        },
    }
    return settings


@pytest.fixture(scope="session")
def library_maker(tmp_path_factory: pytest.TempPathFactory) -> LibraryMaker:
    return LibraryMaker(tmp_path_factory.mktemp("libraries"))


@dataclass(frozen=True)
class LibraryMaker:
    """Compiles libraries that export the ten calls. Each variant has different bytes, and so a different digest."""

    folder: Path

    def __call__(self, variant: int = 0, *options: str) -> Path:
        path = self.folder / f"library-{variant}{''.join(options).replace('/', '_')}.so"
        if not path.exists():
            source = path.with_suffix(".c")
            source.write_text(LIBRARY % variant)
            command = ["gcc", "-shared", "-fPIC", "-o", str(path), str(source), *options]
            subprocess.run(command, check=True)
        return path


@pytest.fixture
def alice(django_user_model: type[User], db: None) -> User:
    return django_user_model.objects.create_user("alice", password="secret")


@pytest.fixture
def bob(django_user_model: type[User], db: None) -> User:
    return django_user_model.objects.create_user("bob", password="secret")


@pytest.fixture
def organiser(django_user_model: type[User], db: None) -> User:
    return django_user_model.objects.create_user("olga", password="secret", is_staff=True)


@pytest.fixture
def machine(db: None) -> Machine:
    return Machine.objects.create(name="bench1", machine_class="fast")


@dataclass(frozen=True)
class Track:
    """Finishes runs without a worker: it claims them and stores reports about them."""

    machine: Machine

    def finish(self, run: Run, **report: Any) -> Run:
        """Claim this run, before all other queued runs, and store a report about it."""
        Run.objects.filter(state=State.QUEUED).exclude(pk=run.pk).update(priority=50)
        claimed = claims.claim(claims.Slot(self.machine, 0))
        assert claimed is not None
        assert claimed.pk == run.pk
        assert services.record(make_report(claimed, **report))
        Run.objects.filter(priority=50).update(priority=0)
        run.refresh_from_db()
        return run


@pytest.fixture
def track(machine: Machine) -> Track:
    return Track(machine)


PRELIMINARY1 = Target("sigmod2009", "preliminary1")
PRELIMINARY2 = Target("sigmod2009", "preliminary2")


def enter(
    owner: User,
    variant: int = 0,
    *,
    targets: tuple[Target, ...] = (PRELIMINARY1,),
    configuration: str = "",
    scale: str = "paper",
    sessions: int = 15,
) -> Submission:
    """Queue a submission as services.submit does, but without a file. Each `variant` has a different digest."""
    submission = Submission.objects.create(
        owner=owner,
        file_name=f"library-{variant}.so",
        blob_sha256=f"{variant:064x}",
        size_bytes=1000,
        kind=Kind.STRUCTURE if configuration else Kind.INDEX,
        configuration=configuration,
    )
    runs = [
        new_runs.new_run(submission, target, target_scale, sessions)
        for target, target_scale in services._plan(targets, scale, sessions)
    ]
    with transaction.atomic():
        claims.enqueue(owner.pk, runs)
    return submission
