"""Writes and reads bundles: a run's results in one ZIP file, which is signed so that others can trust and replay it.

A bundle has these files:

- run.json: the run as the site exports it, with the report of each session and, for the owner, the seeds;
- plots as SVG and PNG, if the run has curves;
- manifest.json: the SHA-256 of each other file, and which software made the bundle;
- signature.json: an Ed25519 signature (RFC 8032) of the bytes of manifest.json, and the public key.

With a site's public key, a reader can check that this site made a bundle. A signature with an unknown key shows only
that the bundle is complete: anybody can sign with a key of their own.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from runner.strict import ObjectReader, StrictError, parse_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

BUNDLE_SCHEMA = "keydrome.bundle.v1"
RUN, MANIFEST, SIGNATURE = "run.json", "manifest.json", "signature.json"
FILES_MAX = 32
BYTES_MAX = 64 << 20
"""The largest total size of a bundle's unpacked files, in bytes."""
_DOWNLOAD_AGAIN = "download the bundle again from the page of the run"
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
# zipfile raises these errors for damaged archives. BadZipFile is its own error. The others come from its decoders, or
# from wrong offsets in the file.
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    ArithmeticError,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)


class BundleError(ValueError):
    """The file is not a valid bundle; the text says why."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle whose digests and signature are correct. `public_key` has 64 hexadecimal digits."""

    run: dict[str, Any]
    files: Mapping[str, bytes]  # all files but the manifest and the signature
    software: Mapping[str, str]
    public_key: str


def write_bundle(
    files: Mapping[str, bytes], software: Mapping[str, str], key: Ed25519PrivateKey
) -> bytes:
    """Return a bundle with these files, among them run.json. Equal arguments give equal bytes."""
    manifest = _json(
        {
            "schema": BUNDLE_SCHEMA,
            "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
            "software": dict(software),
        }
    )
    signature = _json(
        {
            "algorithm": "ed25519",
            "public_key": key.public_key().public_bytes_raw().hex(),
            "signature": key.sign(manifest).hex(),
        }
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, content in sorted({**files, MANIFEST: manifest, SIGNATURE: signature}.items()):
            member = zipfile.ZipInfo(name, date_time=_ZIP_EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    return packed.getvalue()


def read_bundle(data: bytes, public_key: str | None = None) -> Bundle:
    """Return the bundle in `data` after a check of its digests and its signature.

    If `public_key` is given, the bundle must be signed with this key. Raises BundleError if the data are not a valid
    bundle.
    """
    files = _unpack(data)
    for name in (RUN, MANIFEST, SIGNATURE):
        if name not in files:
            raise BundleError(
                f"the file contains no {name}, so it is not a bundle of Keydrome: give another file"
            )
    try:
        signed_by = _check_signature(files[MANIFEST], files[SIGNATURE])
        manifest = ObjectReader(parse_object(files[MANIFEST], MANIFEST), MANIFEST)
        schema = manifest.text("schema")
        digests = manifest.mapping("files")
        software = manifest.mapping("software")
        run = parse_object(files[RUN], RUN)
    except StrictError as error:
        raise BundleError(f"{error}: {_DOWNLOAD_AGAIN}") from error
    if schema != BUNDLE_SCHEMA:
        raise BundleError(
            f"{MANIFEST}: the format is {schema!r}, but this program reads {BUNDLE_SCHEMA}: use the version of "
            "Keydrome that made the bundle"
        )
    content = {name: data for name, data in files.items() if name not in {MANIFEST, SIGNATURE}}
    found = {name: hashlib.sha256(data).hexdigest() for name, data in content.items()}
    wrong = sorted(name for name in found | digests if found.get(name) != digests.get(name))
    if wrong:
        raise BundleError(
            f"these files were changed, added or removed after the bundle was signed: {', '.join(wrong)}. "
            f"{_DOWNLOAD_AGAIN.capitalize()}"
        )
    if public_key is not None and signed_by != public_key:
        raise BundleError(
            f"the bundle is signed with the key {signed_by}, not with {public_key}: give a bundle of the site whose "
            "key you gave, or give the key of the site that made the bundle"
        )
    return Bundle(run, content, {name: str(value) for name, value in software.items()}, signed_by)


def _check_signature(manifest: bytes, signature: bytes) -> str:
    """Return the public key that signed the manifest."""
    fields = ObjectReader(parse_object(signature, SIGNATURE), SIGNATURE)
    algorithm = fields.text("algorithm")
    if algorithm != "ed25519":
        raise BundleError(
            f"{SIGNATURE}: the algorithm is {algorithm!r}, but this program checks only ed25519: use the version of "
            "Keydrome that made the bundle"
        )
    key = fields.text("public_key")
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(
            bytes.fromhex(fields.text("signature")), manifest
        )
    except (InvalidSignature, ValueError) as error:
        raise BundleError(
            f"{SIGNATURE}: the signature does not fit {MANIFEST}: the bundle was changed after it was made; "
            f"{_DOWNLOAD_AGAIN}"
        ) from error
    return key.lower()


def _unpack(data: bytes) -> dict[str, bytes]:
    """Return the files of a ZIP file. Raises BundleError if it is damaged or breaks a limit."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read_members(archive)
    except BundleError:
        raise
    except _ZIP_ERRORS as error:
        raise BundleError(
            f"the file is no ZIP file, or is damaged ({error}): {_DOWNLOAD_AGAIN}"
        ) from error


def _read_members(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """Return the files of the archive. Unpacks at most BYTES_MAX bytes, even if the archive states a smaller size."""
    files: dict[str, bytes] = {}
    members = archive.infolist()
    if len(members) > FILES_MAX:
        raise BundleError(
            f"the file contains {len(members)} files, but a bundle of Keydrome has at most {FILES_MAX}: give another "
            "file"
        )
    left = BYTES_MAX
    for member in members:
        if not _NAME.fullmatch(member.filename) or member.filename in files:
            raise BundleError(
                f"the bundle contains a file whose name is not allowed or occurs twice: {member.filename[:80]!r}; "
                f"{_DOWNLOAD_AGAIN}"
            )
        with archive.open(member) as file:
            content = file.read(left + 1)
        left -= len(content)
        if left < 0:
            raise BundleError(
                f"the unpacked files take more than {BYTES_MAX >> 20} MiB, the limit of a bundle of Keydrome: give "
                "another file"
            )
        files[member.filename] = content
    return files


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()
