"""The page's own reading of texts takes time linear in their length, whatever they hold."""

from __future__ import annotations

import pytest

from tests.page.conftest import Site

MEASURE = """async ([module, call, piece, before, after, length]) => {
  const base = document.querySelector('script[type=module]').src.replace(/[^/]*$/, '');
  const page = await import(base + module);
  const everyOther = (size) => Array.from({length: size / 2}, (_, at) => ({start: 2 * at, end: 2 * at + 1}));
  const read = {
    markdown: (text) => page.markdown(text),
    marked: (text) => page.marked(text),
    highlighted: (text) => page.highlighted(text, everyOther(text.length)),
  }[call];
  const text = (size) => before + piece.repeat(Math.ceil(size / piece.length)).slice(0, size) + after;
  const fastest = (given) => Math.min(...[1, 2, 3, 4].map(() => {
    const start = performance.now();
    read(given);
    return performance.now() - start;
  }));
  read(text(100));
  return [fastest(text(length)), fastest(text(4 * length))];
}"""

MARKDOWN = ["*a_", "[", "**a", "> ", "- ", "`", "<a", "~~a", "![", "[x](", "| a ", "1. ", "_a ", "a@b", "\\"]
MARKS = ["<mark>", "&amp;", "</mark>"]
QUERIES = [" ", "x ", "𝄞 "]

CASES = [
    *(("markdown.js", "markdown", piece, 10_000) for piece in MARKDOWN),
    *(("dom.js", "marked", piece, 20_000) for piece in MARKS),
    *(("components/understood.js", "highlighted", piece, 20_000) for piece in QUERIES),
]

RATIO_MAX = 9.0
"""Four times the text: 4 where reading is linear, 16 where it is quadratic."""
TOO_LITTLE_TO_COMPARE_MS = 60.0


def test_four_times_the_text_takes_about_four_times_as_long(site: Site) -> None:
    page = site.open()
    slow = {}
    for module, call, piece, length in CASES:
        for before, after in (("", ""), ("x", "y")):
            for _ in range(3):
                once, longer = page.evaluate(MEASURE, [module, call, piece, before, after, length])
                ratio = longer / max(once, 0.1)
                if longer < TOO_LITTLE_TO_COMPARE_MS or ratio < RATIO_MAX:
                    break
            else:
                slow[f"{call} of {before}{piece!r}…{after}"] = f"{once:.0f} ms, then {longer:.0f} ms"
    assert slow == {}


@pytest.mark.parametrize("text", ["> " * 3000 + "deep", "- " * 3000 + "deep", "**a" * 3000])
def test_a_text_that_nests_without_end_is_shown_as_text(site: Site, text: str) -> None:
    page = site.open()
    shown = page.evaluate(
        """async (text) => {
          const base = document.querySelector('script[type=module]').src.replace(/[^/]*$/, '');
          return (await import(base + 'markdown.js')).markdown(text).textContent;
        }""",
        text,
    )
    assert shown.strip().endswith(text[-4:])
