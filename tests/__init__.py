"""The tests: sentences about Vermilion, on real services."""
