"""The top floor: settings, processes and addresses, which put the other three together."""
