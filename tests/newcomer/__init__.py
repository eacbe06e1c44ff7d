"""A domain that a newcomer adds, as docs/contributing.md says: recipes."""
