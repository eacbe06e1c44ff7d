"""What a question asks of people: its mentions as the constraints of a search, each with the characters that say it."""
