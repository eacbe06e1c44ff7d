"""Known vulnerabilities of what is deployed and of what a laptop runs, by pip-audit: `make audit` calls it.

    python -m tools.audit layers/*/requirements.txt requirements/local.txt

Exits with 1 where a pinned package has a known vulnerability. Where the data about them (PyPI's) cannot be reached it says so
in one line and exits with 0: the rest of the audit needs no network.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PIP_AUDIT = Path(__file__).resolve().parents[1] / ".venv-audit" / "bin" / "pip-audit"


def main(requirements: Sequence[str]) -> int:
    done = subprocess.run(
        [PIP_AUDIT, "--disable-pip", "--progress-spinner=off", "--format=json", *_each("--requirement", requirements)],
        capture_output=True,
        text=True,
    )
    try:
        dependencies = json.loads(done.stdout)["dependencies"]
    except ValueError:
        # nothing was written: with exit status 2 it was called wrongly, else it could not fetch
        if done.returncode == 2:
            print(done.stderr, file=sys.stderr)
            return 2
        dependencies = []
    vulnerable, lines = verdict(dependencies)
    print(*(f"pip-audit: {line}" for line in lines), sep="\n")
    return int(vulnerable)


def verdict(dependencies: Sequence[dict[str, Any]]) -> tuple[bool, list[str]]:
    """Whether anything in pip-audit's report is vulnerable, and what to say of the report, in lines."""
    audited = [each for each in dependencies if "vulns" in each]
    if not audited:
        return False, ["its data cannot be reached from here; no package was looked up"]
    found = [
        f"{each['name']} {each['version']}: {one['id']}, mended in {' or '.join(one['fix_versions']) or 'no version yet'}"
        for each in audited
        for one in each["vulns"]
    ]
    unknown = [f"{each['name']}: {each['skip_reason']}" for each in dependencies if "vulns" not in each]
    return bool(found), [*found, *unknown, f"packages looked up: {len(audited)}; vulnerabilities known: {len(found)}"]


def _each(option: str, values: Sequence[str]) -> list[str]:
    return [f"{option}={value}" for value in values]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
