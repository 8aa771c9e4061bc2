"""The state tables as triggers: PostgreSQL refuses what `states` does not list."""

from collections.abc import Iterator

from runs.states import RUN, TOOL, TOOL_CALL, TURN, Machine

REFUSE = """
CREATE OR REPLACE FUNCTION refuse_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a row of % may not become %', TG_TABLE_NAME, NEW.status USING ERRCODE = 'check_violation';
END $$
"""
"""Called only where the trigger's condition found a forbidden move, so that allowed ones cost next to nothing."""

DROP = "DROP FUNCTION refuse_move()"


def statements() -> list[str]:
    """The statements that install all of them."""
    runs = [_trigger("runs_run", "first", "INSERT", f"NOT {_first(RUN)}")]
    runs += [_trigger("runs_run", "move", "UPDATE", f"{_CHANGED} AND NOT ({_moves(RUN)})")]
    tool = f"NEW.kind = '{TOOL_CALL}'"
    first = f"NOT ({tool} AND {_first(TOOL)} OR NOT {tool} AND {_first(TURN)})"
    move = f"{_CHANGED} AND NOT ({tool} AND ({_moves(TOOL)}) OR NOT {tool} AND ({_moves(TURN)}))"
    fixed = "OLD.kind <> NEW.kind OR OLD.seq <> NEW.seq OR OLD.run_id <> NEW.run_id"
    steps = [_trigger("runs_step", "first", "INSERT", first)]
    steps += [_trigger("runs_step", "move", "UPDATE", f"{fixed} OR {move}")]
    return [REFUSE, *runs, *steps]


_CHANGED = "OLD.status IS DISTINCT FROM NEW.status"


def _trigger(table: str, name: str, event: str, forbidden: str) -> str:
    return (
        f"CREATE TRIGGER {name}_state BEFORE {event} ON {table} FOR EACH ROW WHEN ({forbidden})"
        " EXECUTE FUNCTION refuse_move()"
    )


def _first(machine: Machine) -> str:
    return f"NEW.status IN {_listed(machine.first)}"


def _moves(machine: Machine) -> str:
    return " OR ".join(_move(machine))


def _move(machine: Machine) -> Iterator[str]:
    for old, new in sorted(machine.moves.items()):
        if new:
            yield f"OLD.status = '{old}' AND NEW.status IN {_listed(new)}"


def _listed(states: frozenset[str]) -> str:
    return "(" + ", ".join(f"'{state}'" for state in sorted(states)) + ")"
