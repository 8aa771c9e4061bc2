"""`create_member TENANT EMAIL --role …`: makes a person a member."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tenants import members
from tenants.actors import COMMAND
from tenants.lookup import tenant_named
from tenants.models import ROLES
from tenants.refusals import Refusal
from tenants.scope import scope


class Command(BaseCommand):
    """Makes a person a member; without a password it prints the link under which they choose one."""

    help = "Make a person a member of a tenant."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("tenant", help="the tenant's slug")
        parser.add_argument("email")
        parser.add_argument("--role", action="append", choices=ROLES, required=True, dest="roles")
        parser.add_argument("--name", default="", help="the person's name")
        parser.add_argument("--password", help="without it, an invitation link is printed")

    def handle(self, *, tenant: str, email: str, **values: Any) -> None:
        try:
            with scope(tenant_named(tenant).pk):
                found = members.add(
                    email,
                    actor=COMMAND,
                    roles=values["roles"],
                    name=values["name"],
                    password=values["password"],
                )
        except Refusal as refusal:
            raise CommandError(str(refusal.detail)) from None
        invitation = members.invitation_if_new(found.person)
        self.stdout.write(invitation or f"{found.email} is a member of {tenant}.")
