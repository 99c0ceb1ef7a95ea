"""The Celery application: a doorbell, not a queue.

A message only says "look into the table"; leaderboard/tasks.py has the one task. Workers:
`celery -A web.celery worker -Q bench -P solo`, the same with `-Q results`, and one scheduler:
`celery -A web.celery beat`.
"""

import os

from celery import Celery
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "web.settings")

app = Celery("keydrome")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.task_queues = (Queue("bench"), Queue("results"))
app.autodiscover_tasks()
