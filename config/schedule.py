"""The scheduler's own application: settings alone, none of the floors, so that it starts at once and stays small."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging
from django.conf import settings

from config.logs import configure

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("vermilion", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")


@setup_logging.connect(weak=False)
def use_our_lines(**_: Any) -> None:
    """Celery arranges no logging of its own where this signal is heard."""
    configure(settings.LOGGING)
