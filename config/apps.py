"""The Django application `config`: its commands, and the grants before a migration."""

import gc

from django.apps import AppConfig, apps
from django.db.models.signals import pre_migrate

from config.celery import app as celery  # noqa: F401  The one that every `shared_task` belongs to.
from config.grants import grant
from tenants import doors


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        # What is loaded by now stays for good, and nearly all that a request or a step makes goes by counting alone: to
        # look for circles every 700 objects, among everything, took a fortieth of a decision.
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        doors.COUNTS.extend(["count_all", "count_given_up"])
        # The signal is sent once an application; one of them is enough.
        pre_migrate.connect(grant, sender=apps.get_app_config("contenttypes"), dispatch_uid="config.grants")
