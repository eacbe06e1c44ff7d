"""The exceptions of `make audit`, and how it interprets pip-audit's report."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

from tools.audit import verdict

ROOT = Path(__file__).resolve().parents[2]


def test_each_skipped_rule_has_a_reason() -> None:
    checkov, bandit = (ROOT / ".checkov.yaml").read_text(), (ROOT / "pyproject.toml").read_text()
    left_out = [*yaml.safe_load(checkov)["skip-check"], *tomllib.loads(bandit)["tool"]["bandit"]["skips"]]
    reasons = dict(re.findall(r"^ +(?:- |\")(CKV_AWS_\d+|B\d+)(?:\",)?  # (.{4,})$", checkov + bandit, re.MULTILINE))
    assert reasons.keys() == set(left_out)
    assert len(left_out) == len(reasons)


def test_a_known_vulnerability_fails_and_unavailable_data_does_not() -> None:
    sound = {"name": "anyio", "version": "4.16.0", "vulns": []}
    weak = {"name": "mako", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1", "2.0"]}]}
    unknown = {"name": "quarry", "skip_reason": "Dependency not found on PyPI"}
    assert verdict([unknown]) == (False, ["its data cannot be reached from here; no package was looked up"])
    assert verdict([sound, unknown]) == (
        False,
        ["quarry: Dependency not found on PyPI", "packages looked up: 1; vulnerabilities known: 0"],
    )
    vulnerable, [line, summary] = verdict([sound, weak])
    assert vulnerable
    assert line == "mako 1.0: PYSEC-1, mended in 1.1 or 2.0"
    assert summary == "packages looked up: 2; vulnerabilities known: 1"
