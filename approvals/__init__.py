"""Asking people: rules, requests, answers, and who is told."""

import sys
from types import ModuleType

# The library of conditions imports its own command line, which takes a third of a second of every process's start.
sys.modules.setdefault("cel.cli", ModuleType("cel.cli"))
