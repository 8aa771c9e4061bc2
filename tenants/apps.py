"""The Django application `tenants`."""

from importlib import import_module

from django.apps import AppConfig

HEARERS = ("tenants.guard", "tenants.sign_ins")
"""Modules that listen to signals. They need the models, which are there only when the application is ready."""


class TenantsConfig(AppConfig):
    name = "tenants"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let each hearer connect itself."""
        for name in HEARERS:
            import_module(name).connect()
