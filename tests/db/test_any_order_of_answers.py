"""Answers in any order that chance gives them, against a model of a few lines: votes count once, and one end stands."""

from functools import partial
from typing import Any

import pytest
from django.db import transaction
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from approvals import decisions, requests, states
from approvals.models import Review
from tenants import events, members
from tenants.actors import COMMAND, SYSTEM
from tenants.locks import hold
from tenants.models import AuditEntry, Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.cast.people import actor, make_member
from tests.cast.requests import ARGUMENTS, a_call, fresh, park

NEEDED = 2
WHO = st.integers(0, 3)
"""Three reviewers, and one who is none."""


class Answers(RuleBasedStateMachine):
    """One critical call that two reviewers have to approve."""

    def __init__(self, tenant: Tenant, people: list[Member]) -> None:
        super().__init__()
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.tenant, self.people = tenant, people
        self.request = park(tenant, a_call(risk="critical"))
        self.version, self.status, self.edits = 1, "pending", 0
        self.votes: set[int] = set()
        self.may = {0, 1, 2}
        self.given = self.refused = 0

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)

    def expected(self, who: int, decision: str, version: int) -> bool:
        """Whether this answer is taken; the model moves on as if it had been."""
        again = who in self.votes and decision != "reject"
        if self.status != "pending" or who not in self.may or version != self.version or again:
            return False
        if decision == "edit":
            self.version, self.votes = self.version + 1, set()
        if decision in ("reject", "respond"):
            self.status = {"reject": "rejected", "respond": "responded"}[decision]
            return True
        self.votes.add(who)
        if len(self.votes & self.may) >= NEEDED:
            self.status = "approved"
        return True

    @rule(who=WHO, decision=st.sampled_from(["approve", "approve", "edit", "reject", "respond"]), late=st.booleans())
    def answer(self, who: int, decision: str, late: bool) -> None:
        version = self.version - late
        sent: dict[str, Any] = {"decision": decision, "version": version, "comment": "I looked.", "channel": "page"}
        if decision == "edit":
            self.edits += 1
            sent["arguments"] = {**ARGUMENTS, "count": 1 + self.edits}
        if decision == "respond":
            sent["response"] = "It was done by hand."
        wanted, taken = self.expected(who, decision, version), True
        try:
            decisions.decide(self.request.pk, tenant=self.tenant.pk, actor=actor(self.people[who]), **sent)
        except Refusal:
            taken = False
        assert taken == wanted
        self.given, self.refused = self.given + taken, self.refused + (not taken)

    @rule(comes=st.integers(0, 5))
    def end_with_its_run(self, comes: int) -> None:
        """Now and then."""
        if comes:
            return
        with scope(self.tenant.pk):
            hold(self.request.subject)
            requests.cancel_open(self.request.subject, actor=SYSTEM, because="run_cancelled")
        self.status = "cancelled" if self.status == "pending" else self.status

    @rule()
    def be_swept_before_the_deadline(self) -> None:
        with scope(self.tenant.pk):
            assert requests.lapse(self.request.pk) == ("early" if self.status == "pending" else self.status)

    @rule(comes=st.integers(0, 3))
    def lose_the_right(self, comes: int) -> None:
        if comes or 2 not in self.may:
            return
        with scope(self.tenant.pk):
            members.change(self.people[2].pk, actor=COMMAND, roles=["manager"])
        self.may.discard(2)

    @invariant()
    def the_request_is_what_the_model_says(self) -> None:
        found = fresh(self.request)
        assert (found.status, found.version) == (self.status, self.version)
        with scope(self.tenant.pk):
            assert Review.objects.filter(request=found).count() == self.given
            entries = AuditEntry.objects.filter(target=f"request:{found.pk}", action="approval.decided")
            assert entries.filter(refused=True).count() == self.refused
            assert entries.filter(refused=False).count() == self.given

    @invariant()
    def it_ends_once_and_says_so_once(self) -> None:
        with scope(self.tenant.pk):
            told = [row.name for row in events.after(self.request.subject, 0, 10_000)]
        ends = [name for name in told if name in states.EVENTS.values()]
        assert ends == ([] if self.status == "pending" else [states.EVENTS[self.status]])
        assert told.count("approval.reviewed") == self.given
        assert told.count("approval.edited") == self.version - 1


@pytest.mark.django_db
def test_however_answers_come_votes_count_once_and_one_end_stands(
    acme: Tenant, alice: Member, bo: Member, ravi: Member
) -> None:
    people = [alice, bo, make_member(acme, "Cy", "reviewer"), make_member(acme, "Mia", "manager")]
    play = settings(max_examples=20, stateful_step_count=15, deadline=None)
    run_state_machine_as_test(partial(Answers, acme, people), settings=play)  # type: ignore[no-untyped-call]
