"""Tests that the committed browser assets are equal to the files in the locked npm packages."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

WEB = Path(__file__).resolve().parents[1]
VENDOR = WEB / "static" / "vendor"


def test_the_copies_are_those_of_the_lock_file() -> None:
    manifest = json.loads((VENDOR / "manifest.json").read_text())
    lock = json.loads((WEB / "package-lock.json").read_text())["packages"]
    package = json.loads((WEB / "package.json").read_text())
    assert {path.name for path in VENDOR.iterdir()} == {*manifest, "manifest.json"}
    assert {entry["package"] for entry in manifest.values()} == set(package["dependencies"])
    for name, entry in manifest.items():
        locked = lock[f"node_modules/{entry['package']}"]
        assert package["dependencies"][entry["package"]] == locked["version"]
        assert (entry["version"], entry["integrity"]) == (locked["version"], locked["integrity"])
        digest = hashlib.sha256((VENDOR / name).read_bytes()).hexdigest()
        assert digest == entry["sha256"], (
            f"{VENDOR / name} is not the file of the locked npm package (its SHA-256 differs from manifest.json): "
            "run tools/vendor_assets.py, which copies the file from the package"
        )
