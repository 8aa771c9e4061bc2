"""The agent `provided`, whose model is a provider's: only for workers that reach one, for its client loads slowly."""

from runs.agents import Agent, register
from tests.agents.scripted import TOOLS

register(Agent(name="provided", version="1", model="openai:gpt-test", instructions="Be kind.", tools=TOOLS))
