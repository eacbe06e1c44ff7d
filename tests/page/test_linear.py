"""The page's own reading of texts takes time linear in their length, whatever they hold."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

from tests.page.conftest import Site

READ = """async ([module, call, text]) => {
  const base = document.querySelector('script[type=module]').src.replace(/[^/]*$/, '');
  const page = await import(base + module);
  const everyOther = (size) => Array.from({length: size / 2}, (_, at) => ({start: 2 * at, end: 2 * at + 1}));
  ({
    markdown: () => page.markdown(text),
    marked: () => page.marked(text),
    highlighted: () => page.highlighted(text, everyOther(text.length)),
  })[call]();
}"""

CASES = [
    *(("markdown.js", "markdown", piece, 10_000) for piece in ("*a_", "[", "> ", "`", "<a", "[x](", "| a ", "\\")),
    ("dom.js", "marked", "<mark>", 20_000),
    ("components/understood.js", "highlighted", "x ", 20_000),
]

RATIO_MAX = 9.0
"""Four times the text: 4 where reading is linear, 16 where it is quadratic."""
TOO_LITTLE_TO_COMPARE_MS = 30.0


def test_four_times_the_text_takes_about_four_times_as_long(site: Site) -> None:
    page = site.open()
    cpu_ms = thread_clock(page)

    def reading(module: str, call: str, text: str) -> float:
        start = cpu_ms()
        page.evaluate(READ, [module, call, text])
        return cpu_ms() - start

    slow = {}
    for module, call, piece, length in CASES:
        short, long = ("x" + (piece * size)[:size] + "y" for size in (length, 4 * length))
        reading(module, call, short[:100])
        for _ in range(3):
            longer, once = reading(module, call, long), reading(module, call, short)
            if longer < TOO_LITTLE_TO_COMPARE_MS or longer < RATIO_MAX * once:
                break
        else:
            slow[f"{call} of {piece!r}"] = f"{once:.0f} ms, then {longer:.0f} ms"
    assert slow == {}


def thread_clock(page: Page) -> Callable[[], float]:
    """Milliseconds of processor that the page's own thread has used: a busy machine changes nothing."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def read() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")

    return read
