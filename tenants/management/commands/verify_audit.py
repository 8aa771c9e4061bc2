"""`verify_audit [TENANT]`: says up to which entry the audit proves what it says."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tenants.lookup import tenant_named
from tenants.models import Tenant
from tenants.scope import scope
from tenants.signing import public_key
from tenants.verification import verify


class Command(BaseCommand):
    """Reads each chain from its start. Ends with an error if one does not hold."""

    help = "Verify the audit of one tenant, or of all."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("tenant", nargs="?", help="the tenant's slug; without it, all")

    def handle(self, *, tenant: str | None, **_: Any) -> None:
        tenants = [tenant_named(tenant)] if tenant else list(Tenant.objects.order_by("slug"))
        broken = [each.slug for each in tenants if not self._holds(each)]
        self.stdout.write(f"Signed under the public key {public_key()}.")
        if broken:
            raise CommandError(f"The audit does not hold: {', '.join(broken)}.")

    def _holds(self, tenant: Tenant) -> bool:
        with scope(tenant.pk, read_only=True):
            verdict = verify()
        self.stdout.write(f"{tenant.slug}: proved up to entry {verdict.proved}, digest {verdict.digest}.")
        if verdict.fault:
            self.stdout.write(f"{tenant.slug}: {verdict.fault}")
        return verdict.holds
