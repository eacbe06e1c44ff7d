"""Fakes of the services outside, speaking their real protocols."""
