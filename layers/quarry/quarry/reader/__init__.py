"""Reads text into a Query without a model: composes candidates, scores them with weights fitted to data, and runs the best one.

question ─▶ said (words, numbers, dates, values that its words may mean) ─▶ parts (conditions, asks) ─▶ compose (≤ 400 queries)
        ─▶ score (log-linear, `weights/`) ─▶ calibration (how likely the best one is right) ─▶ confident, doubted or refused

Pure: the caller looks up in the data what the words may mean, and runs the query. `tools/fit` makes the weights.
"""
