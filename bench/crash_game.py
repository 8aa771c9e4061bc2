"""What the crash test plays: runs of every effect, people who help, and the account at the end."""

import json
import random
from collections import Counter
from typing import Any
from uuid import UUID

from django.utils import timezone

from approvals import decisions
from approvals.models import ApprovalRequest
from runs import announcing, commands, journal, sweeping
from runs.entries import StepRow
from runs.models import Attempt, Lease, Run
from tenants import agents, events, founding, members
from tenants.actors import COMMAND
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.agents import ledger, scripted
from tests.cast import folding

EFFECTS = {each.name: each.effect.value for each in scripted.TOOLS}
TOOLS = ("look", "set_it", "pay", "refund", "deliver", "send", "post")
FINISHED = ("succeeded", "failed", "cancelled")
ENDS = {"run.succeeded": "succeeded", "run.failed": "failed", "run.cancelled": "cancelled"}


class Game:
    """One tenant, its people, and the runs so far."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.tenant: UUID = founding.found("acme", actor=COMMAND, name="Acme").pk
        self.counts: Counter[str] = Counter()
        announcing.announce("the game")
        with scope(self.tenant):
            agents.switch("script", actor=COMMAND, enabled=True)
            self.reviewer = members.add("a@acme.example", actor=COMMAND, roles=["reviewer"], name="Alice")
            self.manager = members.add("m@acme.example", actor=COMMAND, roles=["manager"], name="Mona")

    def summary(self) -> str:
        """What was played so far."""
        return ", ".join(f"{number} {name}" for name, number in sorted(self.counts.items()))

    # --- the world's turn -------------------------------------------------------------------------

    def begin(self, number: int) -> list[UUID]:
        """Start runs whose turns chance has written."""
        announcing.announce("the game")
        made = []
        for _ in range(number):
            turns = [self._turn() for _ in range(self.chance.randint(1, 4))]
            wanted = commands.Start(agent="script", input=json.dumps({"turns": turns, "end": "done"}), title="A game")
            with scope(self.tenant):
                made.append(commands.start(wanted, actor=COMMAND).pk)
        self.counts["runs"] += number
        return made

    def _turn(self) -> list[dict[str, Any]]:
        calls = []
        for _ in range(self.chance.randint(1, 3)):
            how = self.chance.choice(["ok", "ok", f"sleep:{self.chance.uniform(0, 0.3):.3f}", "transient:1"])
            calls.append({"tool": self.chance.choice(TOOLS), "args": {"how": how}})
        return calls

    def victims(self, pids: list[int]) -> list[int]:
        """Workers to be killed: mostly one that holds a run right now, or all that do, as when their host is lost."""
        with scope(self.tenant, read_only=True):
            holders = Lease.objects.filter(until__gt=timezone.now()).values_list("holder", flat=True)
            busy = {int(holder.rpartition(":")[2]) for holder in holders} & set(pids)
        if busy and self.chance.random() < 0.5:
            return sorted(busy)
        if busy:
            return [self.chance.choice(sorted(busy))]
        return [self.chance.choice(pids)] if self.chance.random() < 0.1 else []

    def help(self, runs: list[UUID]) -> None:
        """What time and people do: sweeps, answers, resumed and settled runs."""
        sweeping.sweep()
        with scope(self.tenant, read_only=True):
            subjects = [f"run:{run}" for run in runs]
            pending = list(ApprovalRequest.objects.filter(status="pending", subject__in=subjects).order_by("opened_at"))
            held_up = list(Run.objects.filter(pk__in=runs, status="needs_attention"))
        for request in pending:
            self._answer(request)
        for run in held_up:
            self._let_out(run)

    def _answer(self, request: ApprovalRequest) -> None:
        reject = self.chance.random() < 0.3
        decisions.decide(
            request.pk,
            tenant=self.tenant,
            actor=members.actor_of(self.reviewer),
            decision="reject" if reject else "approve",
            version=request.version,
            comment="no" if reject else "",
            channel="page",
        )
        self.counts["rejected" if reject else "approved"] += 1

    def _let_out(self, run: Run) -> None:
        actor = members.actor_of(self.manager)
        try:
            if run.reason == "crash_loop":
                with scope(self.tenant):
                    commands.resume(run.pk, actor=actor)
            elif run.reason == "unknown_outcome":
                for step in journal.load(self.tenant, run.pk).steps:
                    if step.status == "unknown":
                        self._settle(run, step)
        except Refusal:
            return  # Too early, or it went on meanwhile; the next look tries again.
        self.counts[run.reason] += 1

    def _settle(self, run: Run, step: StepRow) -> None:
        """A person looks at the far side's book and says what it says."""
        ran = [line for line in ledger.acts(run.pk) if line["step"] == step.seq]
        outcome = "completed" if ran else self.chance.choice(["not_done", "do_again"])
        with scope(self.tenant):
            actor = members.actor_of(self.manager)
            commands.settle(run.pk, step.seq, outcome=outcome, note="I looked it up", actor=actor)

    def over(self, runs: list[UUID]) -> bool:
        """Whether every run has come to its end."""
        with scope(self.tenant, read_only=True):
            return not Run.objects.filter(pk__in=runs).exclude(status__in=FINISHED).exists()

    def standing(self, runs: list[UUID]) -> list[str]:
        """Of each run that has not come to its end: its state, its lease, the end of its story."""
        with scope(self.tenant, read_only=True):
            left = list(Run.objects.filter(pk__in=runs).exclude(status__in=FINISHED))
            leases = {each.run_id: each for each in Lease.objects.filter(run_id__in=runs)}
            told = {each.pk: events.after(f"run:{each.pk}", 0, 10_000)[-4:] for each in left}
        return [
            f"{each.pk} is {each.status} {each.reason}, due {each.due_at}, held by {leases[each.pk].holder} until "
            f"{leases[each.pk].until}, last {[(event.at.isoformat(), event.name) for event in told[each.pk]]}"
            for each in left
        ]

    # --- the account ------------------------------------------------------------------------------

    def check(self, runs: list[UUID]) -> list[str]:
        """Everything that is not right, as sentences."""
        return [f"run {run}: {wrong}" for run in runs for wrong in self._wrong(run)] + self._untold()

    def _untold(self) -> list[str]:
        """What the events of all runs, folded, tell otherwise than the rows of runs, steps and requests."""
        try:
            self.counts["rows folded"] = folding.demand_that_events_tell_the_rows_here()
        except AssertionError as error:
            return [f"the events do not tell the rows: {str(error)[:4000]}"]
        return []

    def _wrong(self, run: UUID) -> list[str]:
        with scope(self.tenant, read_only=True):
            status = Run.objects.get(pk=run).status
            told = events.after(f"run:{run}", 0, 10_000)
            attempts = list(Attempt.objects.filter(run_id=run).order_by("seq", "number"))
            free = not Lease.objects.filter(run_id=run, until__isnull=False).exists()
        wrong = [] if free else ["its lease was not given up"]
        if [event.seq for event in told] != list(range(1, len(told) + 1)):
            wrong.append("its events have a gap")
        ends = [ENDS[event.name] for event in told if event.name in ENDS]
        if ends != [status] or status != "succeeded":
            wrong.append(f"it is {status}, and its story says {ends}")
        if any(each.closed_at is None for each in attempts):
            wrong.append("an attempt is still open")
        for step in journal.load(self.tenant, run).steps:
            if step.kind == "tool_call":
                wrong += self._wrong_step(run, step, [each for each in attempts if each.seq == step.seq])
        return wrong

    def _wrong_step(self, run: UUID, step: StepRow, attempts: list[Attempt]) -> list[str]:
        acts = [line for line in ledger.acts(run) if line["step"] == step.seq]
        calls = [each for each in attempts if each.kind == "call"]
        self.counts["effects"] += len(acts)
        wrong = []
        keys = {line["key"] for line in acts}
        if len(acts) > len(calls) or not keys <= {each.key for each in calls}:
            wrong.append(f"{step.tool} ran {len(acts)} times with {len(calls)} attempts recorded")
        if len(keys) > step.generation + 1:
            wrong.append(f"{step.tool} ran under {len(keys)} keys")
        wrong += self._wrong_effect(step, len(acts), attempts)
        return wrong

    def _wrong_effect(self, step: StepRow, ran: int, attempts: list[Attempt]) -> list[str]:
        """One effect at most where it could be told: lookups, manual calls, refused calls."""
        failed = sum(each.cause == "server" for each in attempts)  # These ran, and said that nothing happened.
        once = EFFECTS[step.tool] in ("lookup", "manual")
        if step.status == "completed" and (ran == 0 or (once and ran - failed > 1)):
            return [f"{step.tool} is completed and ran {ran} times"]
        if step.status in ("declined", "not_done") and ran > failed:
            return [f"{step.tool} is {step.status} and ran {ran} times"]
        if step.status not in ("completed", "declined", "not_done"):
            return [f"{step.tool} ended as {step.status}"]
        return []
