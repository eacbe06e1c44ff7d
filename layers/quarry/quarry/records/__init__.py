"""Civic records: one box over a city's records. A ranked list for keywords, a streamed, cited answer for questions."""
