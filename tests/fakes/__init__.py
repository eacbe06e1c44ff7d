"""Fakes of external services, with their real protocols."""
