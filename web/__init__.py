"""The Django site: pages and accounts. The package `leaderboard` has the submissions, the results and the rankings.

Importing this package creates the Celery application, so that tasks find it in every process.
"""

from web.celery import app as celery_app

__all__ = ["celery_app"]
