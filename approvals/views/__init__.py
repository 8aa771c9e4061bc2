"""The pages of asking: parse, call, answer."""
