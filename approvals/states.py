"""The states of a request and of a delivery, as tables; the database's refusals are generated from them."""

from collections.abc import Mapping
from types import MappingProxyType

Table = Mapping[str, frozenset[str]]

FINISHED = frozenset({"approved", "rejected", "responded", "expired", "cancelled", "superseded"})

REQUEST: Table = MappingProxyType(
    {
        "": frozenset({"pending"}),
        "pending": FINISHED,
        "approved": frozenset({"superseded"}),
    }
)
DELIVERY: Table = MappingProxyType(
    {
        "": frozenset({"pending"}),
        "pending": frozenset({"sending", "given_up"}),
        "sending": frozenset({"sent", "pending", "given_up"}),
    }
)
EVENTS: Mapping[str, str] = MappingProxyType({state: f"approval.{state}" for state in FINISHED})
"""The event that tells each end of a request."""


def names(table: Table) -> tuple[str, ...]:
    """Every state of `table`, sorted."""
    return tuple(sorted({state for ends in table.values() for state in ends}))


def allowed(table: Table, before: str, after: str) -> bool:
    """Whether `before` → `after` is listed; `before` is "" for a row that is being inserted."""
    return after in table.get(before, frozenset())


def trigger_sql(*, relation: str, name: str, table: Table, frozen: tuple[str, ...] = ()) -> str:
    """SQL of a trigger on `relation` that refuses each transition `table` does not list.

    The columns `frozen` are refused any change at all. The error has the class `check_violation`. The first migrations
    install it, before all of the columns are there; a later one puts `triggers_sql` in its place.
    """
    pairs = ", ".join(f"'{a}>{b}'" for a in sorted(table) for b in sorted(table[a]))
    changed = " OR ".join(f"NEW.{column} IS DISTINCT FROM OLD.{column}" for column in frozen) or "false"
    return f"""
CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE before text := CASE TG_OP WHEN 'INSERT' THEN '' ELSE OLD.status END;
BEGIN
  IF TG_OP = 'UPDATE' AND ({changed}) THEN
    RAISE EXCEPTION '{relation}: what was asked is frozen' USING ERRCODE = 'check_violation';
  END IF;
  IF TG_OP = 'UPDATE' AND before = NEW.status THEN RETURN NEW; END IF;
  IF NOT (before || '>' || NEW.status = ANY (ARRAY[{pairs}])) THEN
    RAISE EXCEPTION '{relation}: % to % is not allowed', coalesce(nullif(before, ''), 'nothing'), NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER {name} BEFORE INSERT OR UPDATE ON {relation} FOR EACH ROW EXECUTE FUNCTION {name}();
"""


def triggers_sql(*, relation: str, name: str, table: Table, frozen: tuple[str, ...] = ()) -> str:
    """SQL of triggers on `relation` that refuse each transition `table` does not list, and any change of `frozen`.

    The error has the class `check_violation`. What is frozen is compared only where a statement names one of it: the
    end of a request names none, and two dozen comparisons took as long as its row.
    """
    pairs = ", ".join(f"'{a}>{b}'" for a in sorted(table) for b in sorted(table[a]))
    return f"""
CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE before text := CASE TG_OP WHEN 'INSERT' THEN '' ELSE OLD.status END;
BEGIN
  IF TG_OP = 'UPDATE' AND before = NEW.status THEN RETURN NEW; END IF;
  IF NOT (before || '>' || NEW.status = ANY (ARRAY[{pairs}])) THEN
    RAISE EXCEPTION '{relation}: % to % is not allowed', coalesce(nullif(before, ''), 'nothing'), NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER {name} BEFORE INSERT OR UPDATE OF status ON {relation} FOR EACH ROW EXECUTE FUNCTION {name}();
{_frozen_sql(relation, f"{name}_frozen", frozen) if frozen else ""}"""


def _frozen_sql(relation: str, name: str, frozen: tuple[str, ...]) -> str:
    changed = " OR ".join(f"NEW.{column} IS DISTINCT FROM OLD.{column}" for column in frozen)
    return f"""
CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF {changed} THEN
    RAISE EXCEPTION '{relation}: what was asked is frozen' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER {name} BEFORE UPDATE OF {", ".join(frozen)} ON {relation} FOR EACH ROW EXECUTE FUNCTION {name}();
"""


def drop_sql(*, relation: str, name: str) -> str:
    """SQL that takes the triggers and their functions away again, those of an earlier form too."""
    every = (name, f"{name}_frozen")
    triggers = " ".join(f"DROP TRIGGER IF EXISTS {each} ON {relation};" for each in every)
    return triggers + " ".join(f" DROP FUNCTION IF EXISTS {each}();" for each in every)
