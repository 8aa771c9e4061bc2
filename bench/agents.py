"""The agents that are measured."""
