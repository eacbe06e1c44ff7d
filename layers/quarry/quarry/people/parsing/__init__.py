"""Reading a query for people by rule: its words, the names in it, dates, salaries, places, and what was meant by them."""
