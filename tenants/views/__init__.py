"""The pages of this floor: who belongs to a tenant, and in which groups."""
