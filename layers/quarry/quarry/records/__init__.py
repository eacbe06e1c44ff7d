"""Records: one box over all of them. A ranked list for keywords, a streamed, cited answer for questions."""
