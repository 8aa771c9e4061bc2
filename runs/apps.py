"""The Django application `runs`."""

import importlib

from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        importlib.import_module("runs.receivers")
        importlib.import_module("runs.worker")
        importlib.import_module("runs.topics").connect()
        importlib.import_module("runs.past_calls").connect()
        importlib.import_module("runs.kept").connect()
        importlib.import_module("runs.unsettled").connect()
