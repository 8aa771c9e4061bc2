"""The top floor: settings, processes and addresses, which put the other three together."""

from config.celery import app as celery

__all__ = ["celery"]
