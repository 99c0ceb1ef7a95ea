"""The site: pages and accounts on top of the leaderboard."""

from web.celery import app as celery_app

__all__ = ["celery_app"]
