"""One JSON line a measurement."""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Measured:
    """A value with its unit, and its ratio to what was measured beside it in the same run."""

    name: str
    value: float
    unit: str
    ratio: float
    against: str

    def line(self) -> str:
        """The measurement as it is printed."""
        found = asdict(self)
        return json.dumps({**found, "value": round(self.value, 3), "ratio": round(self.ratio, 3)})
