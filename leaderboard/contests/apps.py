"""Registers contests as a Django application of their own, so that they have their own migrations."""

from django.apps import AppConfig


class ContestsConfig(AppConfig):
    """The Django application with contests, teams, entries, roles and the audit log."""

    name = "leaderboard.contests"
    label = "contests"
    default_auto_field = "django.db.models.BigAutoField"
