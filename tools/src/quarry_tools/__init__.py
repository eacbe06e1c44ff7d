"""Measures and tunes search, and verifies derived data: for developers, not used by the service."""
