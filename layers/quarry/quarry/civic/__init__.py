"""A city's records: Quarry's own tables, declared in `quarry.toml` like any other collection, and the format of their files."""
