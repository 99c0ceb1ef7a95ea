"""Makes the bundle of a run: its export, its plots and a signature of this site (results/bundle.py has the format).

The signing key is derived from the site's secret key. So all processes of a site sign with the same key, and a site
with a new secret key signs with a new key.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.utils.crypto import salted_hmac

from results.bundle import RUN, write_bundle
from web.submissions.run_export import run_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leaderboard.models import Artefact
    from leaderboard.queries import RunPage


@cache
def _key() -> Ed25519PrivateKey:
    seed = salted_hmac("keydrome.bundle", "", secret=settings.SECRET_KEY, algorithm="sha256")
    return Ed25519PrivateKey.from_private_bytes(seed.digest())


def public_key() -> str:
    """Return the key with which anybody can check the bundles of this site: 64 hexadecimal digits."""
    return _key().public_key().public_bytes_raw().hex()


def run_bundle(page: RunPage, plots: Iterable[Artefact]) -> bytes:
    """Return the bundle of a run for the visitor of this page. It has seeds only if the visitor may see them."""
    text = json.dumps(run_json(page), indent=1, sort_keys=True, cls=DjangoJSONEncoder)
    files = {RUN: (text + "\n").encode()}
    for plot in plots:
        with plot.file.open("rb") as stored:
            files[plot.name] = stored.read()
    software = {"keydrome": version("keydrome"), "commit": settings.KEYDROME_COMMIT or "unknown"}
    return write_bundle(files, software, _key())
