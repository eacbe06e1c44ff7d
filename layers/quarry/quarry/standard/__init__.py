"""The modules that a domain has without writing them, made from its `quarry.toml`, its `contract` and its `search`.

Each module here has a function `of(domain)`, which makes what a domain's own module of that name would hold: for one collection,
whose rows every caller may read. The domain's `contract` has `ROWS`, the row type of its table, by name, and its `search` these
three:

    find(text, run, services, limit, condition)        the results for a text that meet an SQL condition on a row `t`
    search(request, caller, services, request_id)      the response to a `SearchRequest` of `contract`
    answer(request, caller, services, request_id, run_id)  the events of the answer to an `AskRequest` of `contract`
"""
