"""Leases that outlast a slow machine: in an uncommitted test the renewing thread sees no lease to renew."""

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _long_leases(settings: Any) -> None:
    settings.LEASE_SECONDS = 60.0
