"""Takes the README's screenshot of an answer over the sample data: `make screenshots`.

Serves the sample on a free port from its own database, and needs Debian's Chromium. Compresses the image with optipng if that
is installed.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import httpx2
from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "answer.png"
QUESTION = "Why did the council decide to keep the old elm in Quill Square?"
START_SECONDS = 300
"""The first start creates and fills a database."""


def main() -> None:
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if chromium is None:
        sys.exit("There is no Chromium here (Debian: apt install chromium-headless-shell)")
    with _served() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 860}, reduced_motion="reduce", locale="en-GB")
        page.goto(f"{url}/search?{urlencode({'q': QUESTION})}")
        page.locator(".answer-grid[data-state=done] .answer-foot").first.wait_for()
        page.evaluate("document.activeElement.blur()")
        page.screenshot(path=PICTURE)
        browser.close()
    if optimiser := shutil.which("optipng"):
        subprocess.run([optimiser, "-quiet", "-o5", PICTURE], check=True)


@contextmanager
def _served() -> Iterator[str]:
    """The address of the sample data, served from a temporary folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="quarry-screenshots-") as folder:
        quarry = Path(sys.executable).with_name("quarry")
        server = subprocess.Popen(
            [quarry, "demo", "--port", str(port)],
            env=os.environ | {"QUARRY_DATA_DIR": folder, "OPENAI_API_KEY": "", "DATABASE_URL": ""},
            stdout=subprocess.DEVNULL,
        )
        try:
            _wait(f"http://127.0.0.1:{port}/health", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(START_SECONDS * 2):
        try:
            httpx2.get(url).raise_for_status()
        except httpx2.HTTPError:
            if server.poll() is not None:
                sys.exit("The server ended before it served anything.")
            time.sleep(0.5)
        else:
            return
    sys.exit(f"The server did not answer within {START_SECONDS} seconds.")


if __name__ == "__main__":
    main()
