"""The Django site: pages and accounts on top of the leaderboard.

Importing this package creates the Celery application, so that tasks find it in every process.
"""

from web.celery import app as celery_app

__all__ = ["celery_app"]
