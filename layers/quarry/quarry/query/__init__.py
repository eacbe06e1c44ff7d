"""One Query says what is asked of the data: the same value for a model, the reader, the page, saved searches and tests.

JSON ──▶ schema.algebra.Query ──▶ validate (names, kinds, values against a Schema) ──▶ compile (one statement) ──▶ execute
                                                                                                       └──▶ describe (words)
"""
