"""A subject is the same in Python and in PostgreSQL, and comes back as the text it was."""

import pytest
from django.db import IntegrityError, connection, connections

from tenants import events, ids
from tenants.actors import SYSTEM
from tenants.fields import SubjectField
from tenants.locks import hold
from tenants.models import Event, Tenant
from tenants.scope import scope

A_RUN = "run:0192a6b0-0000-7000-8000-0000000000ab"
SUBJECTS = [
    A_RUN,
    A_RUN.upper(),
    A_RUN.replace("-", ""),
    f"run:{{{A_RUN[4:]}}}",
    "run:",
    "run:7",
    "case:17",
    A_RUN[4:],
    "ärende:€🧾",
    "",
    f"{A_RUN}\n",
]


@pytest.mark.django_db
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_subject_is_written_alike_and_read_whole(subject: str) -> None:
    field = SubjectField()
    kept = field.get_prep_value(subject)
    with connection.cursor() as cursor:
        cursor.execute("SELECT subject_bytes(%s::text), subject_text(subject_bytes(%s::text))", [subject, subject])
        assert cursor.fetchone() == (kept, subject)
    assert field.from_db_value(kept) == subject


@pytest.mark.django_db
def test_a_runs_subject_is_short() -> None:
    assert len(SubjectField().get_prep_value(A_RUN) or b"") == 17


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_numbers_of_two_subjects_do_not_mix_and_none_is_given_twice(acme: Tenant) -> None:
    run, case = f"run:{ids.new()}", f"case:{ids.new()}"
    for subject in (run, case, run):
        with scope(acme.pk):
            hold(subject)
            events.append(subject, "run.queued", actor=SYSTEM)
    with scope(acme.pk):
        assert [(each.subject, each.seq) for each in events.after(run, 0, 10)] == [(run, 1), (run, 2)]
        assert [(each.subject, each.seq) for each in events.after(case, 0, 10)] == [(case, 1)]
        assert Event.objects.filter(subject__in=[run, case]).count() == 3
    with connections["owner"].cursor() as cursor, pytest.raises(IntegrityError):
        cursor.execute(
            "INSERT INTO tenants_event (tenant_id, subject, seq, name, at, actor, message, data)"
            " SELECT tenant_id, subject, seq, name, at, actor, message, data FROM tenants_event"
        )
