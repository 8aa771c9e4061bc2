"""The Celery application: workers, and the schedule that wakes the sweeps."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("vermilion")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
