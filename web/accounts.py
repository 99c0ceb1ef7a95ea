"""Defines which user names visitors can choose when they sign up: names of ASCII letters, digits and @ . + - _ only.

web/settings.py refers to this file (ACCOUNT_USERNAME_VALIDATORS).
"""

from django.contrib.auth.validators import ASCIIUsernameValidator

USERNAME_VALIDATORS = [ASCIIUsernameValidator()]
