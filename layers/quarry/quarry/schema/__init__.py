"""What can be asked and of what: the Query, the sources with their fields and links, and the values of these. Pure; everything
that reads a declaration, a question or the database builds on it.
"""
