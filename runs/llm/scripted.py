"""A model that plays fixed turns, for demonstrations and tests; it says so wherever it is shown."""

from collections.abc import Callable, Sequence

from runs.errors import ModelRefused
from runs.llm.base import ModelRequest, ModelResponse

Turn = ModelResponse | Callable[[ModelRequest], ModelResponse]


class Scripted:
    """Plays `turns` in order: turn n of a run gets `turns[n]`, a response or a function of the request.

    A single function stands for every turn. It keeps no state, so any process may play any turn of any run.
    Raises ModelRefused where the script has ended.
    """

    label = "scripted"

    def __init__(self, turns: Sequence[Turn] | Callable[[ModelRequest], ModelResponse]) -> None:
        self.turns = turns

    def respond(self, request: ModelRequest) -> ModelResponse:
        """Answer with the turn the request names."""
        turn = self._turn(request.turn)
        return turn if isinstance(turn, ModelResponse) else turn(request)

    def _turn(self, number: int) -> Turn:
        if callable(self.turns):
            return self.turns
        if number >= len(self.turns):
            raise ModelRefused(f"The script has {len(self.turns)} turns and was asked for turn {number + 1}.")
        return self.turns[number]
