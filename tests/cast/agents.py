"""The agents and tools that the tests' workers know."""
