"""Reading takes time linear in the length of what is read, and never holds the event loop."""
