"""`enable_agent TENANT AGENT`: switches an agent on for a tenant."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from tenants import agents
from tenants.actors import COMMAND
from tenants.lookup import tenant_named
from tenants.refusals import Refusal
from tenants.scope import scope


class Command(BaseCommand):
    """Does what an admin does on the page of agents; an agent that no worker knows yet may be switched on."""

    help = "Switch an agent on for a tenant."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("tenant", help="the tenant's slug")
        parser.add_argument("agent", help="the agent's name")

    def handle(self, *, tenant: str, agent: str, **_: Any) -> None:
        try:
            with scope(tenant_named(tenant).pk):
                agents.switch(agent, actor=COMMAND, enabled=True)
        except Refusal as refusal:
            raise CommandError(str(refusal.detail)) from None
        self.stdout.write(f"{agent} is switched on for {tenant}.")
