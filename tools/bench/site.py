"""Creates a temporary site for a measurement: a data folder with an empty SQLite database that has all tables."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def temporary_site() -> Iterator[None]:
    """Set Django up on an empty database. Use it once per process, because Django reads its settings only once."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            KEYDROME_VAR=folder,
            KEYDROME_BOARD_SCALE="smoke",
            KEYDROME_COPY_SECONDS="0",  # each request is to render a page
            DJANGO_SETTINGS_MODULE="web.settings",
            DATABASE_URL=f"sqlite:///{folder}/bench.sqlite3",
        )
        import django  # noqa: PLC0415 - after the environment is set

        django.setup()
        from django.core.management import call_command  # noqa: PLC0415 - needs the set-up

        call_command("migrate", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        yield
