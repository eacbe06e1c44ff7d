"""Makes the pictures that the README and the docs show, of the sample data in a browser: `make screenshots`.

It serves the sample on a free port from a database of its own, and needs Debian's Chromium. Pictures are made smaller by optipng,
where that is installed.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

import httpx2
from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
START_SECONDS = 300
"""The first start downloads nothing, but makes a database and fills it."""


@dataclass(frozen=True)
class Picture:
    """What is shown at an address, once `ready` is there; `width` and `height` of the window in pixels."""

    name: str
    ready: str
    address: dict[str, str]
    width: int = 1280
    height: int = 860
    scheme: Literal["light", "dark"] = "light"
    costs: bool = False
    """Whether the page asks before it spends a credit on the search."""


PICTURES = (
    Picture(
        "answer",
        ".answer-grid[data-state=done] .answer-foot",
        {"q": "Why did the council decide to keep the old elm in Quill Square?"},
    ),
    Picture(
        "people",
        ".people-list .found",
        {"domain": "people", "q": "Backend engineers in Bengaluru who have worked on payments"},
        costs=True,
    ),
    Picture("companies", ".references .found", {"domain": "companies", "q": "Health startups in Africa"}),
    Picture(
        "campaigns",
        ".campaign-cards",
        {"domain": "campaigns", "q": "How many campaigns with a free trial are there, by channel?"},
        scheme="dark",
    ),
)


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with _served() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox", "--disable-gpu"])
        for picture in PICTURES:
            print(f"{_take(browser, url, picture):>8,} bytes  {picture.name}.png")
        browser.close()


def _chromium() -> str:
    found = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None)
    return found or sys.exit("There is no Chromium here (Debian: apt install chromium-headless-shell)")


def _take(browser: Browser, url: str, picture: Picture) -> int:
    """Save a picture; how many bytes it has."""
    path = IMAGES / f"{picture.name}.png"
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme=picture.scheme,
        reduced_motion="reduce",
        locale="en-GB",
    )
    page = context.new_page()
    page.goto(f"{url}/search?{urlencode(picture.address)}")
    if picture.costs:
        page.get_by_role("button", name="Search for one credit").click()
    page.locator(picture.ready).first.wait_for()
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=path)
    context.close()
    if optimiser := shutil.which("optipng"):
        subprocess.run([optimiser, "-quiet", "-o5", path], check=True)
    return path.stat().st_size


@contextmanager
def _served() -> Iterator[str]:
    """The address of the sample data, served from a folder that goes with it."""
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
