"""Text to Query without a model: candidates are composed, weights that were fitted to data score them, and the likeliest is run.

question ─▶ said (words, numbers, dates, values that its words may mean) ─▶ parts (conditions, asks) ─▶ compose (≤ 400 queries)
        ─▶ score (log-linear, `weights/`) ─▶ calibration (how likely the first one is right) ─▶ confident, doubted or refused

Pure: what the words may mean in the data is looked up before, and queries are run after. `tools/fit` makes the weights.
"""
