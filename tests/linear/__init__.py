"""Reading takes time linear in the length of the input, and never blocks the event loop."""
