"""Tests whether the previous release runs on this checkout's schema: `python -m tools.release_before [COMMIT]`.

While traffic moves, and after a rollback, older code meets newer tables and functions. So the previous release is checked out
elsewhere, gets the SQL of this checkout, and its SQL tests are run. Without COMMIT, it is the last tag.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

TESTS = (
    "tests/campaigns/test_filters.py",
    "tests/companies/test_hybrid_search.py",
    "tests/companies/test_keyword_search.py",
    "tests/companies/test_names.py",
    "tests/ontology/test_retrieval.py",
    "tests/ontology/test_scope.py",
    "tests/people/test_credits.py",
    "tests/people/test_retrieval.py",
    "tests/people/test_unlock.py",
    "tests/records/test_counts.py",
    "tests/records/test_retrieval.py",
    "tests/retrieval",
)
"""What asks the database. Those that the release does not have are left out."""


def main(arguments: list[str]) -> int:
    """The exit status of the tests; 1 if there is no previous release."""
    commit = arguments[0] if arguments else _last_tag()
    if not commit:
        print("there is no tag, so no release before: name a commit", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder, "before")
        _git("worktree", "add", "--detach", "--quiet", str(before), commit)
        try:
            return _test(before)
        finally:
            _git("worktree", "remove", "--force", str(before))


def _test(before: Path) -> int:
    layer = before / "layers" / "quarry"
    # a package that contains `sql` uses that instead of the checkout's
    (layer / "quarry" / "sql").symlink_to(ROOT / "sql")
    tests = [test for test in TESTS if (before / test).exists()]
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(layer), str(before)])}
    return subprocess.run(command, cwd=before, env=environment, check=False).returncode


def _last_tag() -> str:
    result = subprocess.run(
        ["git", "describe", "--tags", "--abbrev=0"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return result.stdout.strip()


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
