"""Measuring and tuning search, and verifying what is derived from the data: what a developer runs, not a service."""
