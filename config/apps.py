"""The Django application `config`: its commands, and the grants before a migration."""

from django.apps import AppConfig, apps
from django.db.models.signals import pre_migrate

from config.celery import app as celery  # noqa: F401  The one that every `shared_task` belongs to.
from config.grants import grant
from tenants import doors


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        doors.COUNTS.extend(["count_all", "count_given_up"])
        # The signal is sent once an application; one of them is enough.
        pre_migrate.connect(grant, sender=apps.get_app_config("contenttypes"), dispatch_uid="config.grants")
