"""The Celery application: workers, and the schedule that wakes the sweeps."""

import os
import warnings
from typing import Any

from celery import Celery
from celery.signals import setup_logging
from django.conf import settings

from config import hints
from config.logs import configure

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Whether a worker may be root is the machine's choice; a container's often is.
warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")

hints.install()
app = Celery("vermilion")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect(weak=False)
def use_our_lines(**_: Any) -> None:
    """Celery arranges no logging of its own where this signal is heard."""
    configure(settings.LOGGING)
