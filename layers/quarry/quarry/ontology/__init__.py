"""One search over every type of entity in a project workspace, for people and agents."""
