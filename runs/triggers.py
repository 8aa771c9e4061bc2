"""The state tables as triggers: PostgreSQL refuses what `states` does not list.

A function a table, without a WHEN: PostgreSQL reads the text of a trigger's condition anew for every statement, which
for a table of moves costs more than the call.
"""

from collections.abc import Iterator

from runs.states import KINDS, RUN, Machine, machine

_FUNCTION = """
CREATE OR REPLACE FUNCTION {table}_{what}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF {allowed} THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a row of % may not become %', TG_TABLE_NAME, NEW.status USING ERRCODE = 'check_violation';
END $$
"""
_TRIGGER = """
CREATE OR REPLACE TRIGGER {what} BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {table}_{what}()
"""

DROP = "; ".join(
    f"DROP FUNCTION {table}_{what}() CASCADE" for table in ("runs_run", "runs_step") for what in ("state", "fixed")
)


def statements() -> list[str]:
    """The statements that install them, also in the place of an earlier release's."""
    steps = frozenset(f"{kind} {move}" for kind in KINDS for move in _all_moves(machine(kind)))
    return [
        *_install("runs_run", _among(frozenset(_all_moves(RUN)), _MOVE), fixed=["id"]),
        *_install("runs_step", _among(steps, f"NEW.kind, ' ', {_MOVE}"), fixed=["kind", "seq", "run_id"]),
    ]


_MOVE = "OLD.status, '>', NEW.status"
"""One expression for a new row, whose OLD is NULL, and a changed one: each is prepared anew in every transaction."""


def _install(table: str, moves: str, *, fixed: list[str]) -> list[str]:
    same = " AND ".join(f"NEW.{column} = OLD.{column}" for column in fixed)
    return [
        _FUNCTION.format(table=table, what="state", allowed=moves),
        _TRIGGER.format(table=table, what="state", event="INSERT OR UPDATE"),
        _FUNCTION.format(table=table, what="fixed", allowed=same),
        _TRIGGER.format(table=table, what="fixed", event=f"UPDATE OF {', '.join(fixed)}"),
    ]


def _all_moves(states: Machine) -> Iterator[str]:
    """What a row may become: as a new one, by a move, or without one."""
    yield from (f">{new}" for new in states.first)
    for old, found in states.moves.items():
        yield from (f"{old}>{new}" for new in {old, *found})


def _among(moves: frozenset[str], parts: str) -> str:
    """Whether the move is listed. PostgreSQL searches the keys of an object; a list it hashes anew every time."""
    listed = ", ".join(f'"{move}": 1' for move in sorted(moves))
    return f"jsonb_exists('{{{listed}}}', concat({parts}))"
