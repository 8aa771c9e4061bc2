"""The one way back up: what a request came to, told inside the transaction that decided it."""

from django.dispatch import Signal

request_resolved = Signal()
"""Sent with `send` (a receiver that fails makes the decision fail), sender `ApprovalRequest`.

Keyword arguments: `request` (the row), `subject`, `ref`, `status` (the finished one), `text` (what the model
reads in the tool's place; empty for `approved`), `actor`, and `fail_run` (True when silence fails the run).
"""
