"""The pages of settings that belong to this floor: people, groups, keys, the tenant's own."""
