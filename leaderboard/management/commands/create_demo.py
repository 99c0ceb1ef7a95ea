"""Creates the accounts of a contestant and an organiser, to try out a site on one machine.

Usage: `python -m web.manage create_demo`.
Such a site (the embedded site) uses SQLite, and needs no database server and no message broker.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand

from leaderboard.management.commands.add_reference import REFERENCE_USER

if TYPE_CHECKING:
    from django.contrib.auth.models import User

DEMO_USER = "demo"
DEMO_PASSWORD_FILE = "demo-password"  # noqa: S105 - a file's name
ORGANISER_PASSWORD_FILE = "organiser-password"  # noqa: S105 - a file's name


class Command(BaseCommand):
    """Creates a contestant and an organiser. Accounts that already have a password keep it."""

    help = "Create the users demo (contestant) and keydrome (organiser), and store their passwords in var/."

    def handle(self, *_args: object, **_options: object) -> None:
        """Create both accounts and print the files with their passwords."""
        accounts = (
            (DEMO_USER, "KEYDROME_DEMO_PASSWORD", DEMO_PASSWORD_FILE, False),
            (REFERENCE_USER, "KEYDROME_ORGANISER_PASSWORD", ORGANISER_PASSWORD_FILE, True),
        )
        for name, variable, file_name, organiser in accounts:
            path = Path(settings.VAR_DIR) / file_name
            user, created = _account(name, organiser=organiser)
            # The command add_reference creates the organiser with an empty password. has_usable_password() counts an
            # empty password as usable, so `not user.password` checks for an empty password.
            if created or not user.password or not user.has_usable_password():
                password = os.environ.get(variable) or secrets.token_urlsafe(9)
                user.set_password(password)
                user.save(update_fields=["password"])
                _write_secret(path, password)
            self.stdout.write(f"user {name}: the password is in {path}")


def _account(name: str, *, organiser: bool) -> tuple[User, bool]:
    """Return the account with this name, and True if this call created it."""
    return get_user_model().objects.get_or_create(
        username=name, defaults={"is_staff": organiser, "is_superuser": organiser}
    )


def _write_secret(path: Path, secret: str) -> None:
    """Write a password to a file that only its owner can read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(f"{secret}\n")
