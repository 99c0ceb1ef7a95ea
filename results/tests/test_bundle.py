"""Tests of bundles, which are signed ZIP files with the results of a run.

A reader gets exactly the files that were signed, and notices every change.
"""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import example, given
from hypothesis import strategies as st

from results import bundle
from results.bundle import MANIFEST, RUN, SIGNATURE, BundleError, read_bundle, write_bundle

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32))
PUBLIC = KEY.public_key().public_bytes_raw().hex()
FILES = {RUN: b'{"run": "/runs/47/"}\n', "latency.svg": b"<svg/>" * 50}
SOFTWARE = {"keydrome": "0.1.0", "commit": "876df0a5"}


def packed(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def unpacked(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_bundle_is_read_as_it_was_written() -> None:
    read = read_bundle(write_bundle(FILES, SOFTWARE, KEY), PUBLIC)
    assert read.run == {"run": "/runs/47/"}
    assert read.files == FILES
    assert read.software == SOFTWARE
    assert read.public_key == PUBLIC


def test_equal_runs_give_equal_bundles() -> None:
    backwards = dict(reversed(FILES.items()))
    assert write_bundle(FILES, SOFTWARE, KEY) == write_bundle(backwards, SOFTWARE, KEY)


@given(place=st.integers(0), change=st.integers(1, 255))
@example(place=834, change=1)  # an offset that points before the file
def test_no_changed_byte_changes_what_is_read(place: int, change: int) -> None:
    """A changed bundle is refused, unless the change is in a part of the ZIP format that readers ignore."""
    data = bytearray(write_bundle(FILES, SOFTWARE, KEY))
    data[place % len(data)] ^= change
    try:
        read = read_bundle(bytes(data), PUBLIC)
    except BundleError:
        return
    assert (read.files, read.software) == (FILES, SOFTWARE)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({RUN: b'{"run": "/runs/48/"}\n'}, r"after the bundle was signed: run.json. Download"),
        ({"latency.svg": b"<svg></svg>"}, r"after the bundle was signed: latency.svg. Download"),
        ({"more.txt": b"more"}, r"after the bundle was signed: more.txt. Download"),
        ({"latency.svg": None}, r"after the bundle was signed: latency.svg. Download"),
        ({MANIFEST: b"{}"}, "the signature does not fit manifest.json"),
        ({SIGNATURE: b"{}"}, "the field 'algorithm' is missing: download the bundle again"),
        ({SIGNATURE: None}, "the file contains no signature.json"),
        ({RUN: b"[]"}, "run.json: expected an object"),
        ({"../run.json": b"{}"}, "whose name is not allowed or occurs twice: '../run.json'"),
        ({f"n{number}": b"" for number in range(40)}, "bundle of Keydrome has at most 32"),
    ],
)
def test_a_changed_bundle_is_refused_with_the_reason(
    change: dict[str, bytes | None], reason: str
) -> None:
    files = unpacked(write_bundle(FILES, SOFTWARE, KEY)) | change
    with pytest.raises(BundleError, match=reason.replace(".", r"\.")):
        read_bundle(packed({name: data for name, data in files.items() if data is not None}))


def test_a_bundle_that_somebody_else_signed_is_refused_if_the_key_is_known() -> None:
    forged = write_bundle(FILES, SOFTWARE, OTHER)
    assert read_bundle(forged).public_key != PUBLIC
    with pytest.raises(BundleError, match=r"signed with the key .*, not with"):
        read_bundle(forged, PUBLIC)


def test_an_unknown_format_is_refused() -> None:
    manifest = json.dumps({"schema": "keydrome.bundle.v9", "files": {}, "software": {}}).encode()
    signature = {
        "algorithm": "ed25519",
        "public_key": PUBLIC,
        "signature": KEY.sign(manifest).hex(),
    }
    files = {RUN: b"{}", MANIFEST: manifest, SIGNATURE: json.dumps(signature).encode()}
    with pytest.raises(BundleError, match=r"the format is 'keydrome\.bundle\.v9'"):
        read_bundle(packed(files))


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bundle, "BYTES_MAX", 1 << 20)
    data = write_bundle({RUN: b"{}", "zeros": bytes(1 << 21)}, SOFTWARE, KEY)
    assert len(data) < 10_000
    with pytest.raises(BundleError, match="take more than 1 MiB"):
        read_bundle(data)


@pytest.mark.parametrize("data", [b"", b"PK", b"no ZIP file"])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(BundleError, match="the file is no ZIP file"):
        read_bundle(data)
