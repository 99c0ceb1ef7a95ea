"""Creates the Celery application, whose messages only wake workers.

A run tests or times a submitted library. The queue of runs is not in Celery, but a table in the database.

leaderboard/tasks.py defines the only task. Besides the web server, a site needs three kinds of processes:

- bench workers, which execute runs: `celery -A web.celery worker -Q bench -P solo`
- a results worker, which draws plots, and recovers the runs of bench workers that have died:
  `celery -A web.celery worker -Q results -P solo`
- one scheduler, which wakes the workers regularly: `celery -A web.celery beat`
"""

import os

from celery import Celery
from kombu.entity import Exchange, Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "web.settings")

app = Celery("keydrome")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Each queue has its own exchange. If both used the default exchange, every message would reach the workers of both
# queues.
app.conf.task_queues = tuple(
    Queue(name, Exchange(name), routing_key=name) for name in ("bench", "results")
)
app.autodiscover_tasks()
