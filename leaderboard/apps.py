"""The Django application."""

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    """What happened and who leads."""

    name = "leaderboard"
    default_auto_field = "django.db.models.BigAutoField"
