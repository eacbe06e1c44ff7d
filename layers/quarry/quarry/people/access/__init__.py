"""Who may see what of whom: credits, unlocked contacts, profiles, and searches as they are kept."""
