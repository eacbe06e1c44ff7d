"""What a model does with the data: the sources it may ask, the tools it calls, and the loop that it calls them in."""
