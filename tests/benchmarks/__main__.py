"""`make bench`: every benchmark, or those named: `python -m tests.benchmarks records deployed --rows 10000`."""

from __future__ import annotations

import sys
from collections.abc import Callable

<<<<<<< HEAD
from tests.benchmarks import companies, deployed, people, records
=======
from tests.benchmarks import deployed, ontology, records
>>>>>>> ontology

BENCHMARKS: dict[str, Callable[[list[str]], None]] = {
    "companies": companies.main,
    "records": records.main,
<<<<<<< HEAD
    "people": people.main,
=======
    "ontology": ontology.main,
>>>>>>> ontology
    "deployed": lambda _: deployed.measure(imports=9),
}

if __name__ == "__main__":
    names = [argument for argument in sys.argv[1:] if argument in BENCHMARKS]
    others = [argument for argument in sys.argv[1:] if argument not in BENCHMARKS]
    for name in names or BENCHMARKS:
        BENCHMARKS[name](others)
