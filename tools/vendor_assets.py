"""Copies the browser assets to web/static/vendor, in the versions that web/package-lock.json fixes.

The copies are committed, so neither users nor the build need npm. Run this tool after changing a version there. npm
checks each package against the integrity value of the lock file. The manifest next to the copies records the package
and the digest of each file, and web/tests/test_vendored.py compares it with the lock file.

Usage: .venv/bin/python -m tools.vendor_assets
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

WEB = Path(__file__).resolve().parent.parent / "web"
VENDOR = WEB / "static" / "vendor"
MANIFEST = VENDOR / "manifest.json"

# target name -> (package, file in the package)
FILES = {
    "pico.min.css": ("@picocss/pico", "css/pico.min.css"),
    "pico.LICENSE.txt": ("@picocss/pico", "LICENSE.md"),
    "htmx.min.js": ("htmx.org", "dist/htmx.min.js"),
    "htmx.LICENSE.txt": ("htmx.org", "LICENSE"),
}


def locked_packages() -> dict[str, dict[str, Any]]:
    """Return the lock file's entry of each package, by package name."""
    lock = json.loads((WEB / "package-lock.json").read_text())
    prefix = "node_modules/"
    return {
        path.removeprefix(prefix): entry
        for path, entry in lock["packages"].items()
        if path.startswith(prefix)
    }


def vendor() -> None:
    """Install the locked packages into a temporary folder and copy the files we serve."""
    packages = locked_packages()
    manifest = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(WEB / name, folder)
        subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True
        )
        VENDOR.mkdir(parents=True, exist_ok=True)
        for target, (package, source) in FILES.items():
            data = (Path(folder) / "node_modules" / package / source).read_bytes()
            (VENDOR / target).write_bytes(data)
            manifest[target] = {
                "package": package,
                "version": packages[package]["version"],
                "integrity": packages[package]["integrity"],
                "sha256": hashlib.sha256(data).hexdigest(),
            }
    MANIFEST.write_text(json.dumps(manifest, indent=2) + "\n")


def main() -> int:
    """Copy the assets; return a process exit code."""
    if shutil.which("npm") is None:
        print("vendor_assets: npm is missing; install Debian's package npm", file=sys.stderr)
        return 2
    vendor()
    print(f"wrote {len(FILES)} files to {VENDOR}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
