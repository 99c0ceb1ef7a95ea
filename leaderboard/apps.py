"""Registers the leaderboard as a Django application, so that Django finds its tables and commands."""

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    """The Django application with submissions, the queue of their runs, the results, and the boards that rank them."""

    name = "leaderboard"
    default_auto_field = "django.db.models.BigAutoField"
