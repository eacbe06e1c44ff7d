"""What users keep: conversations and searches."""
