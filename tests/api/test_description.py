"""The API against its own description, by schemathesis: every route and every check, on the sample data.

A request that the description calls valid is taken, one that it calls invalid is refused; every status, media type, body and
event that comes back is described; and no other method is taken. `schemathesis.toml` says what a JSON schema cannot.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from hypothesis.configuration import storage_directory

from tests.running import running_server

CONFIGURATION = Path(__file__).parent / "schemathesis.toml"
SCHEMATHESIS = Path(sys.executable).parent / "schemathesis"
TIMEOUT_SECONDS = 900
"""Far more than it takes, also on a busy machine."""


def test_the_api_is_what_its_description_says(sample_url: str, tmp_path: Path) -> None:
    with running_server(sample_url, RATE_LIMIT_PER_MINUTE="0") as url:
        # made with the first call, for which schemathesis waits ten seconds and no longer, however busy the machine is
        urlopen(f"{url}/openapi.json", timeout=TIMEOUT_SECONDS).close()
        run = subprocess.run(
            [SCHEMATHESIS, "--config-file", CONFIGURATION, "run", f"{url}/openapi.json"],
            cwd=tmp_path,
            # what is known of all characters is reckoned once, not in each run anew
            env={"NO_COLOR": "1", "HYPOTHESIS_STORAGE_DIRECTORY": str(storage_directory().path.resolve())},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
    assert run.returncode == 0, run.stdout
    # each phase has found something to do
    for phase in ("Examples", "Coverage", "Fuzzing"):
        assert f"✅ {phase}\n" in run.stdout, run.stdout
