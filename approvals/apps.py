"""The Django application `approvals`."""

from importlib import import_module

from django.apps import AppConfig

HEARERS = ("approvals.founding", "approvals.topics")
"""Modules that connect to the floor below. They need the models, which are there only when the application is ready."""


class ApprovalsConfig(AppConfig):
    name = "approvals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let each hearer connect itself."""
        for name in HEARERS:
            import_module(name).connect()
