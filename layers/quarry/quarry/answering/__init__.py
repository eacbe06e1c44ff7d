"""The one loop that answers behind every door: tools, the answer while it is written, and what a model is told."""
