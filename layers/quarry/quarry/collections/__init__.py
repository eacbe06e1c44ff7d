"""Tables of the database's owner, searched in place: declared in `quarry.toml` and kept up to date by triggers."""
