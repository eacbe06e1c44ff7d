"""Quarry: agentic search over a team's own Postgres."""

__version__ = "0.1.0"
