"""What the pages of asking are given: frozen view-models, built from facts, without HTML."""
