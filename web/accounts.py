"""Defines which user names can be chosen."""

from django.contrib.auth.validators import ASCIIUsernameValidator

USERNAME_VALIDATORS = [ASCIIUsernameValidator()]
