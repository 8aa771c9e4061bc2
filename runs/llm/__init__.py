"""Models behind one call: a request with the whole conversation in, one answer out."""
