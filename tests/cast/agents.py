"""The agents and tools that the tests' workers know."""

import tests.agents.scripted  # noqa: F401  # Registers itself.
