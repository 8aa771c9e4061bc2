"""What is past its tenant's retention leaves whole; what is younger, unfinished or of the audit stays."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError, ProgrammingError, connection, connections

from runs import commands, payloads, purging
from runs.models import Payload, Run
from tenants.models import AuditContent, AuditEntry, Event, Tenant
from tenants.scope import scope
from tenants.verification import verify
from tests.cast.journal import Started, ask, begin, call
from tests.cast.requests import park

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


@pytest.fixture
def old(clerk: Tenant, run: Started, settings: Any, tmp_path: Path) -> Started:
    """A run that was cancelled a year and a day ago, with a call, a request and a stored payload."""
    settings.STORAGE_URL = f"file://{tmp_path}"
    payloads.keep(b"x" * 1000, tenant=run.tenant, run=run.id, media_type="text/plain")
    door = run.hold()
    ask(door, call())
    door.give_back("the story ends here")
    park(clerk, subject=f"run:{run.id}", ref="2")
    run.do(commands.cancel)
    age(run, days=366)
    return run


def age(run: Started, *, days: int) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "UPDATE runs_run SET finished_at = now() - make_interval(days => %s) WHERE id = %s", [days, run.id]
        )


def left_of(run: Started) -> dict[str, int]:
    """How many rows of each table still say this run's id, wherever in the row."""
    found = {}
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename !~ 'audit'")
        for (table,) in cursor.fetchall():
            # An event says it as the bytes of its subject.
            says = [f"%{run.id}%", f"%{run.id.hex}%"]
            cursor.execute(f"SELECT count(*) FROM {table} t WHERE t::text LIKE %s OR t::text LIKE %s", says)
            found[table] = cursor.fetchone()[0]
    return {table: count for table, count in found.items() if count}


def test_a_run_past_its_time_leaves_nothing(old: Started) -> None:
    assert {"runs_run", "runs_step", "runs_lease", "approvals_approvalrequest", "tenants_event"} <= set(left_of(old))
    assert purging.purge_all() == 1
    assert left_of(old) == {}
    with connections["owner"].cursor() as cursor:
        for table in ("approvals_asked", "approvals_requestversion", "approvals_review", "approvals_delivery"):
            cursor.execute(f"SELECT count(*) FROM {table}")
            assert cursor.fetchone()[0] == 0, table


def test_its_files_leave_with_it(old: Started) -> None:
    root = Path(settings.STORAGE_URL.removeprefix("file://"))
    assert [path for path in root.rglob("*") if path.is_file()]
    purging.purge_all()
    assert [path for path in root.rglob("*") if path.is_file()] == []
    with scope(old.tenant):
        assert not Payload.objects.exists()


def test_the_audit_stays_blanked_and_proves(old: Started) -> None:
    with scope(old.tenant):
        before = AuditEntry.objects.count()
        seqs = list(AuditEntry.objects.filter(target=f"run:{old.id}").values_list("seq", flat=True))
    assert seqs
    purging.purge_all()
    with scope(old.tenant):
        assert AuditEntry.objects.count() == before + 1
        bodies = dict(AuditContent.objects.values_list("seq", "body"))
        assert {seq for seq, body in bodies.items() if body is None} == set(seqs)
        assert verify().holds


def test_what_is_younger_or_unfinished_stays(old: Started, clerk: Tenant) -> None:
    young, unfinished = begin(clerk), begin(clerk)
    young.do(commands.cancel)
    age(young, days=364)
    purging.purge_all()
    with scope(clerk.pk):
        assert set(Run.objects.values_list("pk", flat=True)) == {young.id, unfinished.id}
        assert Event.objects.filter(subject=f"run:{young.id}").exists()


def test_a_tenant_is_purged_in_its_own_scope_alone(old: Started, globex: Tenant) -> None:
    with (
        scope(globex.pk),
        connection.cursor() as cursor,
        pytest.raises(ProgrammingError, match="only the tenant in scope"),
    ):
        cursor.execute("SELECT * FROM purge(%s::uuid, 10)", [str(old.tenant)])
    assert purging.purge(globex.pk) == 0
    assert left_of(old)


def test_a_run_is_not_deleted_while_it_has_steps(old: Started) -> None:
    """No reference says so: its check would cost every step that is written."""
    with connections["owner"].cursor() as cursor:
        for table in ("runs_formerattempt", "runs_text", "runs_payload", "runs_lease"):
            cursor.execute(f"DELETE FROM {table} WHERE run_id = %s", [old.id])
        with pytest.raises(IntegrityError, match="still has steps"):
            cursor.execute("DELETE FROM runs_run WHERE id = %s", [old.id])
        cursor.execute("DELETE FROM runs_step WHERE run_id = %s", [old.id])
        cursor.execute("DELETE FROM runs_run WHERE id = %s", [old.id])
        assert cursor.rowcount == 1
