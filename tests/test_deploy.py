"""Tests of docker-compose.yml: it is valid and safe, and the files that it and deploy/README.md name exist."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
RUNTIME_CAPABILITIES = {
    "SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "KILL", "SYS_CHROOT", "DAC_OVERRIDE", "MKNOD", "CHOWN",
}  # fmt: skip


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """Return the contents of docker-compose.yml as `docker-compose config` prints them."""
    done = subprocess.run(
        ["docker-compose", "config"],
        cwd=ROOT,
        env={**os.environ, "KEYDROME_HOST": "keydrome.example.org"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    resolved: dict[str, Any] = yaml.safe_load(done.stdout)
    return resolved


def test_services(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {"postgres", "redis", "web", "results", "beat", "bench"}


def test_no_service_is_privileged(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert not service.get("privileged"), name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
    assert set(compose["services"]["bench"]["cap_add"]) == RUNTIME_CAPABILITIES
    assert "cap_add" not in compose["services"]["web"]


def test_a_host_name_is_required() -> None:
    environment = {k: v for k, v in os.environ.items() if k != "KEYDROME_HOST"}
    done = subprocess.run(
        ["docker-compose", "config"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "KEYDROME_HOST" in done.stderr


def test_secrets_are_files(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        for name, value in service.get("environment", {}).items():
            if any(word in name for word in ("PASSWORD", "SECRET", "DATABASE_URL")):
                assert name.endswith("_FILE"), name
                assert str(value).startswith("/run/secrets/")


def test_named_files_exist() -> None:
    named = re.findall(r"\./(deploy/[\w./-]+)", (ROOT / "docker-compose.yml").read_text())
    named += re.findall(r"dockerfile: ([\w./]+)", (ROOT / "docker-compose.yml").read_text())
    named += [
        f"deploy/{name}"
        for name in re.findall(
            r"^\| ([\w./-]+\.\w+) \|", (ROOT / "deploy/README.md").read_text(), re.MULTILINE
        )
    ]
    assert named
    for name in named:
        assert (ROOT / name).resolve().exists(), name


def test_copied_folders_exist() -> None:
    for dockerfile in (ROOT / "deploy").glob("*.Dockerfile"):
        for line in dockerfile.read_text().splitlines():
            if line.startswith("COPY ") and "--from" not in line:
                for source in line.split()[1:-1]:
                    assert (ROOT / source).exists(), (
                        f"{dockerfile.name} copies {source}, which does not exist"
                    )


def test_the_volume_belongs_to_the_user_of_the_site(compose: dict[str, Any]) -> None:
    """The container that starts first fills the volume from its image, so both images must agree."""
    assert (
        compose["services"]["web"]["user"] == compose["services"]["results"]["user"] == "1000:1000"
    )
    made = {
        re.search(r"^RUN install -d -m 0700 -o 1000 -g 1000 /data .*$", path.read_text(), re.M)[0]  # type: ignore[index]
        for path in (ROOT / "deploy").glob("*.Dockerfile")
    }
    assert len(made) == 1


def test_the_machine_keeps_its_name(compose: dict[str, Any]) -> None:
    assert compose["services"]["bench"]["environment"]["KEYDROME_MACHINE"] == "bench"


def test_seccomp_profile_is_generated() -> None:
    written = (ROOT / "deploy" / "seccomp-bench.json").read_text()
    made = subprocess.run(
        [sys.executable, "deploy/make_seccomp.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert written == made
    denied = set(json.loads(written)["syscalls"][0]["names"])
    assert not denied & {"clone", "clone3", "mount", "pivot_root", "unshare", "seccomp"}
