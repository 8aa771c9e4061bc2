"""Agents for tests: their runs are scripted by their own input, and every act is entered in a ledger outside."""
