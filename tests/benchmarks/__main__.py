"""`make bench`: records search, then the functions as they are deployed. The arguments are those of the former."""

from tests.benchmarks import deployed, records

if __name__ == "__main__":
    records.main()
    deployed.measure(imports=9)
