"""Who is in the demo: two organisations with people in every role, their groups and their rules, as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

HOUR = 3600
DAY = 24 * HOUR
AGENT = "refund-desk"
PASSWORD = "vermilion-demo"  # noqa: S105  Printed at every start; it protects nothing but the demo.
FORM_KEY = "Support form"
FORM_SCOPES = ("runs:start", "runs:read")


@dataclass(frozen=True)
class Person:
    email: str
    name: str
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Organisation:
    """A tenant.

    `form` is the address of the member whose support form starts its runs; `escalation` names the escalation policy
    by which the group `leads` is asked too, `leads_after` seconds from the start. `calendar` are its working hours;
    `on_call` is a rotation of the reviewers in `turns`, whom the escalation policy `after_hours` asks.
    """

    slug: str
    name: str
    timezone: str
    locale: str
    form: str
    people: tuple[Person, ...]
    rules: tuple[Mapping[str, Any], ...]
    escalation: str
    leads: str
    first_cases: tuple[str, ...]
    calendar: Mapping[str, Any]
    on_call: str
    turns: tuple[str, ...]
    after_hours: str
    leads_after: int = HOUR


def small(name: str, *, limit: int) -> dict[str, Any]:
    """Refunds that nobody is asked about."""
    return {"name": name, "tools": ["refund"], "agents": [AGENT], "when": f"args.amount <= {limit}", "outcome": "allow"}


def asks(name: str, *, tool: str, **body: Any) -> dict[str, Any]:
    """Calls that people are asked about; silence ends them unrun."""
    return {
        "name": name,
        "tools": [tool],
        "agents": [AGENT],
        "outcome": "require_approval",
        "approvals": 1,
        "response_timeout": DAY,
        "on_timeout": "expire",
        **body,
    }


def office(name: str, *, country: str, days: int = 5, **more: Any) -> dict[str, Any]:
    """Working hours with a break at noon, in the organisation's own zone, but for its country's holidays."""
    weekdays = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")[:days]
    week = {day: [["09:00", "12:30"], ["13:00", "17:30"]] for day in weekdays}
    return {"name": name, "country": country, "week": week, **more}


ACME = Organisation(
    slug="acme",
    name="Acme GmbH",
    timezone="Europe/Berlin",
    locale="en",
    form="iris@acme.example",
    people=(
        Person("alice@acme.example", "Alice Baumann", ("reviewer",), ("Refund reviewers",)),
        Person("bo@acme.example", "Bo Lund", ("reviewer",), ("Refund reviewers",)),
        Person("chen@acme.example", "Chen Wei", ("reviewer",), ("Refund reviewers",)),
        Person("petra@acme.example", "Petra Klein", ("reviewer",), ("Finance leads",)),
        Person("mona@acme.example", "Mona Rask", ("manager",)),
        Person("ravi@acme.example", "Ravi Nair", ("admin",)),
        Person("sam@acme.example", "Sam Okafor", ("reviewer", "manager", "admin"), ("Finance leads",)),
        Person("iris@acme.example", "Iris Holm"),
    ),
    escalation="Refunds",
    leads="Finance leads",
    rules=(
        small("Refunds up to 50", limit=50),
        asks("Refunds over 50", tool="refund", when="args.amount > 50", escalation_policy="Refunds"),
        asks(
            "Refunds over 1,000",
            tool="refund",
            when="args.amount > 1000",
            approvals=2,
            of=[{"group": "Refund reviewers", "at_least": 2}],
            escalation_policy="Refunds",
        ),
        asks(
            "A note that claims an approval",
            tool="refund",
            when="args.note.contains('APPROVED') || args.note.contains('approved')",
            approvals=2,
        ),
        asks("E-mail to customers", tool="send_email"),
    ),
    calendar=office("Berlin office", country="DE", subdivision="BE"),
    on_call="Refunds on call",
    turns=("chen@acme.example", "bo@acme.example", "alice@acme.example"),
    after_hours="After hours",
    first_cases=("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "13", "20", "21"),
)

GLOBEX = Organisation(
    slug="globex",
    name="Globex 环球",
    timezone="Asia/Shanghai",
    locale="zh-hans",
    form="hemin@globex.example",
    people=(
        Person("lina@globex.example", "李娜", ("reviewer",), ("退款审批组",)),
        Person("wangqiang@globex.example", "王强", ("reviewer",), ("退款审批组",)),
        Person("zhoujie@globex.example", "周洁", ("reviewer",), ("财务主管",)),
        Person("chenjing@globex.example", "陈静", ("manager",)),
        Person("zhaolei@globex.example", "赵磊", ("admin",)),
        Person("sam@acme.example", "Sam Okafor", ("reviewer",), ("财务主管",)),
        Person("hemin@globex.example", "何敏"),
    ),
    escalation="退款",
    leads="财务主管",
    rules=(
        small("一百以内的退款", limit=100),
        asks("超过一百的退款", tool="refund", when="args.amount > 100", escalation_policy="退款"),
        asks(
            "超过一千的退款",
            tool="refund",
            when="args.amount > 1000",
            approvals=2,
            of=[{"group": "退款审批组", "at_least": 2}],
            escalation_policy="退款",
        ),
        asks("备注自称已批准", tool="refund", when="args.note.contains('批准')", approvals=2),
        asks("给客户的邮件", tool="send_email"),
    ),
    calendar=office("上海办公室", country="CN"),
    on_call="退款值班",
    turns=("lina@globex.example", "wangqiang@globex.example"),
    after_hours="非工作时间",
    first_cases=("22", "23", "24", "25", "26", "28", "29"),
)

ORGANISATIONS = (ACME, GLOBEX)
