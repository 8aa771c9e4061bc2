"""Loads the demo: organisations, people, groups, rules, the agent switched on, and the support form's keys.

What is there already is left as it is, so it runs at every start: `python -m examples.refund_desk.load`.
"""

# ruff: noqa: E402
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()  # Models can be imported only after this.

from django.conf import settings

from approvals import escalation_policies, rotations, rules, working_hours
from approvals.models import Calendar, EscalationPolicy, PolicyRule, Rotation
from examples.refund_desk import place
from examples.refund_desk.people import AGENT, FORM_KEY, FORM_SCOPES, HOUR, ORGANISATIONS, PASSWORD, Organisation
from tenants import agents, founding, groups, keys, members
from tenants.actors import COMMAND
from tenants.models import Group, Member, Tenant
from tenants.scope import scope

FIRST_MONDAY = "2026-11-02"
"""When the first turn on call began; the turns go on from it for ever."""


def organisation(org: Organisation) -> Tenant:
    """The tenant with everything in it that the demo wants."""
    found = Tenant.objects.filter(slug=org.slug).first()
    tenant = found or founding.found(org.slug, actor=COMMAND, name=org.name, timezone=org.timezone, locale=org.locale)
    with scope(tenant.pk):
        people(org)
        escalation(org)
        hours(org)
        asking(org)
        if agents.access(AGENT) is None:
            agents.switch(AGENT, actor=COMMAND, enabled=True)
    return tenant


def people(org: Organisation) -> None:
    for person in org.people:
        if not Member.objects.filter(person__email=person.email).exists():
            members.add(person.email, actor=COMMAND, roles=person.roles, name=person.name, password=PASSWORD)
    for name in dict.fromkeys(name for person in org.people for name in person.groups):
        if not Group.objects.filter(name=name).exists():
            emails = [person.email for person in org.people if name in person.groups]
            groups.create(name, actor=COMMAND, emails=emails)


def escalation(org: Organisation) -> None:
    if not EscalationPolicy.objects.filter(name=org.escalation).exists():
        level = {"after": org.leads_after, "groups": [org.leads]}
        escalation_policies.create(actor=COMMAND, name=org.escalation, levels=[level])


def hours(org: Organisation) -> None:
    """The working hours, and who is on call outside of them."""
    if not Calendar.objects.filter(name=org.calendar["name"]).exists():
        working_hours.create(actor=COMMAND, default=True, channel="command", **org.calendar)
    if Rotation.objects.filter(name=org.on_call).exists():
        return
    turns = {"zone": org.timezone, "every": "week", "handover": "09:00", "first_day": FIRST_MONDAY}
    made = rotations.create(actor=COMMAND, channel="command", name=org.on_call, members=list(org.turns), **turns)
    levels = [{"after": HOUR, "rotations": [str(made.pk)]}]
    escalation_policies.create(actor=COMMAND, channel="command", name=org.after_hours, levels=levels)


def asking(org: Organisation) -> None:
    for rule in org.rules:
        if not PolicyRule.objects.filter(name=rule["name"]).exists():
            rules.create_rule(**rule, actor=COMMAND)


def form_key(org: Organisation, tenant: Tenant, *, former: str) -> str:
    """The key with which the support form starts runs: the former one while it holds, else a new one."""
    bearer = keys.verify(former)
    if bearer is not None and bearer.tenant == tenant.pk:
        return former
    with scope(tenant.pk):
        owner = members.by_email(org.form)
        return keys.create(owner, actor=COMMAND, scopes=FORM_SCOPES, name=FORM_KEY, service=True)[1]


def leave_keys(tenants: dict[str, Tenant]) -> None:
    """Leaves each organisation's key where the support form finds it."""
    former = place.form_keys()
    texts = {org.slug: form_key(org, tenants[org.slug], former=former.get(org.slug, "")) for org in ORGANISATIONS}
    api = f"http://127.0.0.1:{settings.PORT}/api/v1"
    shops = {str(tenant.pk): slug for slug, tenant in tenants.items()}
    place.announce("form-keys", keys=texts, pages=settings.PUBLIC_URL, api=api, shops=shops)


def main() -> None:
    leave_keys({org.slug: organisation(org) for org in ORGANISATIONS})


if __name__ == "__main__":
    main()
