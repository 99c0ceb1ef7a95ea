"""Defines which user names visitors can choose when they sign up: names of ASCII letters, digits and @ . + - _ only.

Some names are reserved. web/settings.py lists them, and refers to the two definitions of this file by name.
"""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth.validators import ASCIIUsernameValidator

USERNAME_VALIDATORS = [ASCIIUsernameValidator()]


class AccountAdapter(DefaultAccountAdapter):
    """Says in other words than allauth that a name is reserved."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_blacklisted": "This username is reserved. Choose another one.",
    }
