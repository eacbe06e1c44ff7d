"""Marketing campaigns: a chat in which a model calls three tools, or a rule chooses one, and the answer names what it found."""
