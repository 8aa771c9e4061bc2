"""The Celery application: workers, and the schedule that wakes the sweeps."""

import os
import warnings

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Whether a worker may be root is the machine's choice; a container's often is.
warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")

app = Celery("vermilion")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
