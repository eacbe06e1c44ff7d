"""The page without a mouse."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.page.conftest import Site

QUESTION = "Why did the council keep the old elm in Quill Square?"


def focused(page: Page) -> str:
    """The focused element, by its accessible name or text."""
    text: str = page.evaluate(
        "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText ?? '').trim()"
    )
    return text


def tab_to(page: Page, name: str, *, at_most: int = 40) -> None:
    for _ in range(at_most):
        page.keyboard.press("Tab")
        if focused(page).startswith(name):
            return
    raise AssertionError(f"{name} is not reached by Tab")


def test_a_source_can_be_reached_and_left_by_keyboard_alone(site: Site) -> None:
    page = site.open()
    expect(page.get_by_role("textbox")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    tab_to(page, "Answer")
    tab_to(page, "Source ")
    expect(page.get_by_role("tooltip")).to_be_visible()
    name = focused(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert focused(page) == name
    tab_to(page, "Copy link")


def test_an_answer_is_announced_once_when_it_is_ready(site: Site) -> None:
    page = site.open()
    page.evaluate("""() => {
        window.said = [];
        const announcer = document.querySelector('[data-announcer]');
        const listen = new MutationObserver(() => window.said.push(announcer.textContent));
        listen.observe(announcer, {childList: true, characterData: true, subtree: true});
    }""")
    expect(page.get_by_role("textbox")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")
    said = page.evaluate("window.said")
    assert said[0] == "Searching the records"
    assert said[-1].startswith("Answer ready.")
    assert len(said) == 2
    assert page.locator(".prose").evaluate("(node) => node.closest('[aria-live]')") is None
