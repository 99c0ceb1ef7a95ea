"""Defines which user names visitors can choose, and what the site says in place of some of allauth's messages.

Names have only ASCII letters, digits and @ . + - _ . Some names are reserved. web/settings.py lists them, and refers to
the two definitions of this file by name.
"""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth.validators import ASCIIUsernameValidator

USERNAME_VALIDATORS = [ASCIIUsernameValidator()]


class AccountAdapter(DefaultAccountAdapter):
    """Says in other words than allauth that a name is reserved, and that too many log-ins have failed."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_blacklisted": "This username is reserved. Choose another one.",
        # ACCOUNT_RATE_LIMITS of web/settings.py has the 5 minutes. A reset of the password lifts the limit.
        "too_many_login_attempts": "Too many log-ins have failed. Try again in 5 minutes. "
        "If you have forgotten your password, reset it.",
    }
