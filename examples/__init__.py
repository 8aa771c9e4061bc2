"""Agents a reader can copy."""
