"""The Celery application: a doorbell, not a queue.

A message only says "look into the table"; leaderboard/tasks.py has the one task. Workers:
`celery -A web worker -Q bench -P solo -n bench@%h` and `celery -A web worker -Q results -P solo -B
-n results@%h`.
"""

import os

from celery import Celery
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "web.settings")

app = Celery("keydrome")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.task_queues = (Queue("bench"), Queue("results"))
app.autodiscover_tasks()
