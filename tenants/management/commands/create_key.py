"""`create_key TENANT EMAIL --scope …`: makes a key and prints it alone."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tenants import keys, members
from tenants.actors import COMMAND
from tenants.lookup import tenant_named
from tenants.refusals import Refusal
from tenants.scope import scope


class Command(BaseCommand):
    """Makes a member's key, or a service key that the member owns; the text is told this once."""

    help = "Make an API key and print it alone."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("tenant", help="the tenant's slug")
        parser.add_argument("email", help="whose key, or who owns the service key")
        parser.add_argument("--scope", action="append", choices=keys.SCOPES, default=[], dest="scopes")
        parser.add_argument("--service", metavar="NAME", default="", help="make a service key of this name")

    def handle(self, *, tenant: str, email: str, scopes: list[str], service: str, **_: Any) -> None:
        try:
            with scope(tenant_named(tenant).pk):
                _key, text = keys.create(
                    members.by_email(email),
                    actor=COMMAND,
                    scopes=scopes,
                    name=service,
                    service=bool(service),
                )
        except Refusal as refusal:
            raise CommandError(str(refusal.detail)) from None
        self.stdout.write(text)
