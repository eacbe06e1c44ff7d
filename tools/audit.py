"""Finds known vulnerabilities in deployed packages and those of a local installation, with pip-audit (`make audit`).

    python -m tools.audit layers/*/requirements.txt requirements/local.txt

Exits with 1 if a pinned package has a known vulnerability. If the vulnerability data (from PyPI) is unavailable, prints one
line and exits with 0: the rest of the audit needs no network.
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
        # without a report: exit status 2 means a wrong call, anything else a failed download
        if done.returncode == 2:
            print(done.stderr, file=sys.stderr)
            return 2
        dependencies = []
    vulnerable, lines = verdict(dependencies)
    print(*(f"pip-audit: {line}" for line in lines), sep="\n")
    return int(vulnerable)


def verdict(dependencies: Sequence[dict[str, Any]]) -> tuple[bool, list[str]]:
    """Whether pip-audit's report lists a vulnerability, and the lines to print about it."""
    audited = [each for each in dependencies if "vulns" in each]
    if not audited:
        return False, ["its data cannot be reached from here; no package was looked up"]
    problems = [
        f"{each['name']} {each['version']}: {one['id']}, mended in {' or '.join(one['fix_versions']) or 'no version yet'}"
        for each in audited
        for one in each["vulns"]
    ]
    unknown = [f"{each['name']}: {each['skip_reason']}" for each in dependencies if "vulns" not in each]
    return bool(problems), [
        *problems,
        *unknown,
        f"packages looked up: {len(audited)}; vulnerabilities known: {len(problems)}",
    ]


def _each(option: str, values: Sequence[str]) -> list[str]:
    return [f"{option}={value}" for value in values]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
