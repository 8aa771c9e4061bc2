"""`create_tenant SLUG`: makes a tenant."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.core.validators import slug_re

from tenants import founding
from tenants.actors import COMMAND
from tenants.refusals import Refusal


class Command(BaseCommand):
    """Makes a tenant, with the rule that holds where no other matches."""

    help = "Make a tenant."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("slug", help="its name in addresses: letters, digits, hyphens")
        parser.add_argument("--name", default="", help="its name for people")
        parser.add_argument("--timezone", default="UTC", help="such as Europe/Berlin")
        parser.add_argument("--locale", default="en", help="en or zh-hans")

    def handle(self, *, slug: str, name: str, timezone: str, locale: str, **_: Any) -> None:
        if not slug_re.match(slug) or slug != slug.lower() or len(slug) > 60:
            raise CommandError("A slug is at most 60 lower-case letters, digits, hyphens and underscores.")
        try:
            founding.found(slug, actor=COMMAND, name=name, timezone=timezone, locale=locale)
        except Refusal as refusal:
            raise CommandError(str(refusal.detail)) from None
        self.stdout.write(f"Made the tenant {slug}.")
