"""Marketing campaigns: a chat about them, led by a model with tools, or by the reader."""
