"""What many requests say in the same words: kept once by its digest, referred to by each."""

from django.db import models

from tenants.fields import ExactJSONField, HexField
from tenants.models import Tenant


class Wording(models.Model):
    """A tool's definition or what the rules demand, by a digest of its canonical JSON; `wordings` writes it.

    It holds nothing of one run or person. Its row never changes, and the purge takes what no request refers to.
    """

    pk = models.CompositePrimaryKey("tenant_id", "digest")
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    digest = HexField()
    body = ExactJSONField()

    def __str__(self) -> str:
        return str(self.digest)
