"""Keep the definition of a tool and what the rules demand once, not in every request; rows from before stay whole."""

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models

from approvals import states
from approvals.models import FROZEN
from tenants.fields import ActorField, Decoder, Encoder, ExactJSONField, HexField
from tenants.rls import AppendOnly, EnableTenantRLS

OWN = {
    "definition": ExactJSONField(decoder=Decoder, encoder=Encoder, null=True, db_column="definition"),
    "requirement": ExactJSONField(decoder=Decoder, encoder=Encoder, null=True, db_column="requirement"),
    "fingerprint": models.TextField(blank=True, db_column="fingerprint"),
    "run": ExactJSONField(decoder=Decoder, encoder=Encoder, default=dict, db_column="run"),
}
ACTORS = {
    ("approvalrequest", "initiator"): {"default": dict},
    ("approvalrequest", "decided_by"): {"null": True},
    ("policyversion", "author"): {},
    ("requestcomment", "actor"): {},
    ("review", "actor"): {},
}
SHARED = {"worded": "definition_digest", "demanded": "requirement_digest"}
REQUEST = {"relation": "approvals_approvalrequest", "name": "request_states"}


def refer(name: str, digest: str) -> migrations.RunSQL:
    """Let PostgreSQL check that what a request refers to is there, in its own tenant."""
    constraint = f"approvals_approvalrequest_{name}_ft"
    return migrations.RunSQL(
        f"ALTER TABLE approvals_approvalrequest ADD CONSTRAINT {constraint} FOREIGN KEY (tenant_id, {digest})"
        " REFERENCES approvals_wording (tenant_id, digest) DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE approvals_approvalrequest DROP CONSTRAINT {constraint}",
    )


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ("approvals", "0007_due_in_turn"),
        ("tenants", "0003_find_settled_outcomes"),
    ]
    operations: ClassVar = [
        migrations.CreateModel(
            name="Wording",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id", "digest", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", HexField()),
                ("body", ExactJSONField(decoder=Decoder, encoder=Encoder)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
        ),
        EnableTenantRLS("Wording"),
        AppendOnly("Wording", purge=True),
        *[migrations.AlterField("approvalrequest", name, field) for name, field in OWN.items()],
        *[migrations.RenameField("approvalrequest", name, f"own_{name}") for name in OWN],
        *[migrations.AddField("approvalrequest", digest, HexField(null=True)) for digest in SHARED.values()],
        *[
            migrations.AddField(
                "approvalrequest",
                name,
                models.ForeignObject(
                    "approvals.wording",
                    django.db.models.deletion.PROTECT,
                    from_fields=["tenant", digest],
                    to_fields=["tenant", "digest"],
                    related_name="+",
                    null=True,
                ),
            )
            for name, digest in SHARED.items()
        ],
        *[refer(name, digest) for name, digest in SHARED.items()],
        *[
            migrations.AddIndex("approvalrequest", models.Index(fields=["tenant", digest], name=f"request_{name}"))
            for name, digest in SHARED.items()
        ],
        *[
            migrations.AlterField(model, name, ActorField(decoder=Decoder, encoder=Encoder, **options))
            for (model, name), options in ACTORS.items()
        ],
        migrations.RunSQL(states.drop_sql(**REQUEST), migrations.RunSQL.noop),
        migrations.RunSQL(states.trigger_sql(**REQUEST, table=states.REQUEST, frozen=FROZEN), migrations.RunSQL.noop),
    ]
