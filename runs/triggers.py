"""The state tables as triggers: PostgreSQL refuses what `states` does not list.

A function a table, without a WHEN: PostgreSQL reads the text of a trigger's condition anew for every statement, which
for a table of moves costs more than the call.
"""

from collections.abc import Iterator

from runs.states import KINDS, RUN, TOOL, TOOL_CALL, TURN, Machine

_FUNCTION = """
CREATE FUNCTION {table}_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF {first} THEN
            RETURN NEW;
        END IF;
    ELSIF {fixed} AND (NEW.status = OLD.status OR {moves}) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a row of % may not become %', TG_TABLE_NAME, NEW.status USING ERRCODE = 'check_violation';
END $$
"""
_TRIGGER = """
CREATE TRIGGER state BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {table}_state()
"""

DROP = "DROP FUNCTION runs_run_state() CASCADE; DROP FUNCTION runs_step_state() CASCADE"


def statements() -> list[str]:
    """The statements that install both."""
    tool = f"NEW.kind = '{TOOL_CALL}'"
    steps = {
        "first": f"NEW.kind IN {_listed(KINDS)} AND (CASE WHEN {tool} THEN {_first(TOOL)} ELSE {_first(TURN)} END)",
        "fixed": "NEW.kind = OLD.kind AND NEW.seq = OLD.seq AND NEW.run_id = OLD.run_id",
        "moves": f"(CASE WHEN {tool} THEN {_moves(TOOL)} ELSE {_moves(TURN)} END)",
    }
    runs = {"first": _first(RUN), "fixed": "NEW.id = OLD.id", "moves": _moves(RUN)}
    return [*_install("runs_run", runs), *_install("runs_step", steps)]


def _install(table: str, rules: dict[str, str]) -> list[str]:
    return [_FUNCTION.format(table=table, **rules), _TRIGGER.format(table=table)]


def _first(machine: Machine) -> str:
    return f"NEW.status IN {_listed(machine.first)}"


def _moves(machine: Machine) -> str:
    return f"OLD.status || '>' || NEW.status IN {_listed(frozenset(_pairs(machine)))}"


def _pairs(machine: Machine) -> Iterator[str]:
    for old, found in machine.moves.items():
        yield from (f"{old}>{new}" for new in found)


def _listed(words: frozenset[str]) -> str:
    return "(" + ", ".join(f"'{word}'" for word in sorted(words)) + ")"
