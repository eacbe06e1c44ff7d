"""One search over every kind of thing in a project workspace, for people and for agents."""
