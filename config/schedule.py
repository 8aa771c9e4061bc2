"""The scheduler's own application: settings alone, none of the floors, so that it starts at once and stays small."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("vermilion", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")
