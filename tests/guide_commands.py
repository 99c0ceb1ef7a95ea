"""Runs the commands of a guide as its reader would: in a folder that looks like a checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.binaries import built_settings
from tests.test_documented_commands import ROOT

if TYPE_CHECKING:
    from pathlib import Path

COMMAND_SECONDS = 300


def checkout(parent: Path) -> Path:
    """Make a folder in which the commands of a guide find what they need, and where they may write."""
    build = built_settings().build
    folder = parent / "checkout"
    (folder / ".venv/bin").mkdir(parents=True)
    for name in ("api", "structures"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(build)
    for name, arguments in (("keydrome", " -m cli"), ("python", "")):
        script = folder / ".venv/bin" / name
        script.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable}{arguments} "$@"\n')
        script.chmod(0o755)
    return folder


def code_blocks(page: str, heading: str = "") -> list[str]:
    """Return the code blocks of a page, or of the section with this heading, that contain commands."""
    text = (ROOT / page).read_text()
    if heading:
        text = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = text.split("\n```\n")[1::2]
    return [block for block in blocks if ".venv/bin/" in block]


def run(command: str, folder: Path) -> str:
    """Run a command of a guide and return what it prints. The tests run as root, so they need no sudo."""
    # The compilers must not fetch anything.
    offline = {"CARGO_NET_OFFLINE": "true", "GOTOOLCHAIN": "local", "GOPROXY": "off"}
    ended = subprocess.run(
        ["bash", "-ec", command.replace("sudo ", "")],
        cwd=folder,
        env={**os.environ, **offline, "KEYDROME_VAR": str(folder)},
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    assert ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"
    return ended.stdout
