"""Fits the weights of the reader to questions with known answers: `python -m tools.fit --help`."""
