"""A city's records: tables of Quarry's own, declared in `quarry.toml` as anybody's are, and what their files may hold."""
