"""What a model is told about recipes."""

from __future__ import annotations

ABOUT = "the recipes of a kitchen"
NOTES = "How long a dish takes is `minutes`; never guess it from the method."
