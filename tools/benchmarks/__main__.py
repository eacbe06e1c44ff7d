"""`make bench`: every benchmark, or those named first: `python -m tools.benchmarks records deployed --rows 10000`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import takewhile

from tools.benchmarks import (
    collections,
    companies,
    costs,
    deployed,
    hostile,
    numbers,
    ontology,
    own,
    people,
    reader,
    records,
    replica,
    tenants,
    values,
    vectors,
)
from tools.benchmarks.peers import measure as peers

BENCHMARKS: dict[str, Callable[[list[str]], None]] = {
    "collections": collections.main,
    "companies": companies.main,
    "costs": costs.main,
    "hostile": hostile.main,
    "numbers": numbers.main,
    "ontology": ontology.main,
    "own": own.main,
    "people": people.main,
    "reader": reader.main,
    "records": records.main,
    "replica": replica.main,
    "tenants": tenants.main,
    "values": values.main,
    "vectors": vectors.main,
    "deployed": lambda _: deployed.measure(imports=9),
}

if __name__ == "__main__":
    names = [*takewhile(BENCHMARKS.__contains__, sys.argv[1:])]
    if sys.argv[1:2] == ["peers"]:
        # needs data and packages that are not part of the project
        peers.main(sys.argv[2:])
        sys.exit()
    for name in names or BENCHMARKS:
        BENCHMARKS[name](sys.argv[1 + len(names) :])
