"""The Celery application: a doorbell, not a queue.

A message only says "look into the table"; leaderboard/tasks.py has the one task. Workers:
`celery -A web.celery worker -Q bench -P solo`, the same with `-Q results`, and one scheduler:
`celery -A web.celery beat`.
"""

import os

from celery import Celery
from kombu.entity import Exchange, Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "web.settings")

app = Celery("keydrome")
app.config_from_object("django.conf:settings", namespace="CELERY")
# An exchange of its own for each queue: with the default one, every ring would reach both workers.
app.conf.task_queues = tuple(
    Queue(name, Exchange(name), routing_key=name) for name in ("bench", "results")
)
app.autodiscover_tasks()
