"""Recipes of a kitchen."""
