"""Drafting `quarry.toml` from tables, for `quarry map` and `quarry load --as`. No request waits for it: of the Lambda layers only
that of commands has it.
"""
