"""Telling people, after commit, from rows that say what is due: who is asked, what came back, how it ended."""
