"""The page in German and French: chosen by the browser or by the reader, with its labels, numbers and answers."""

from __future__ import annotations

import re

import httpx2
import pytest
from playwright.sync_api import expect

from quarry.web.page_routes import LANGUAGE_COOKIE
from tests.page.conftest import Site
from tests.waiting import PATIENCE_SECONDS


@pytest.mark.parametrize(
    ("accepted", "chosen", "language"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", None, "de"),
        ("fr", None, "fr"),
        ("en-GB", None, "en"),
        ("es", None, "en"),
        ("de", "fr", "fr"),
        ("de", "en", "en"),
        ("fr", "xx", "fr"),
    ],
)
def test_the_document_is_in_the_language_that_was_chosen_or_that_the_browser_accepts(
    site: Site, accepted: str, chosen: str | None, language: str
) -> None:
    headers = {"Accept-Language": accepted} | ({"Cookie": f"{LANGUAGE_COOKIE}={chosen}"} if chosen else {})
    response = httpx2.get(site.url, headers=headers, timeout=PATIENCE_SECONDS)
    assert f'<html lang="{language}">' in response.text
    assert (f"languages/{language}.js" in response.text) is (language != "en")
    assert {"Accept-Language", "Cookie"} <= {each.strip() for each in response.headers["vary"].split(",")}
    again = httpx2.get(
        site.url, headers=headers | {"If-None-Match": response.headers["etag"]}, timeout=PATIENCE_SECONDS
    )
    assert again.status_code == 304


def test_the_reader_chooses_the_language_and_the_page_keeps_it(site: Site) -> None:
    page = site.open()
    page.get_by_role("combobox", name="Language").select_option("Deutsch")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("link", name="Unternehmen")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Fragen Sie die Einträge")).to_be_visible()
    page.get_by_role("combobox", name="Sprache").select_option("Français")
    expect(page.get_by_role("heading", name="Interrogez les documents")).to_be_visible()
    expect(page.get_by_role("link", name="Entreprises")).to_be_visible()


@pytest.mark.parametrize(
    ("language", "question", "answer", "level", "label"),
    [
        ("Deutsch", "Wie viele motions gibt es?", r"Gelesen als: Motions, Anzahl", "Hoch|Mittel", "Wie wurde das gelesen?"),
        ("Français", "Combien de motions ?", r"Compris comme\s: motions, leur nombre", "Élevée|Moyenne", "Exporter"),
    ],
)  # fmt: skip
def test_an_answer_is_in_the_language_of_its_question_amid_labels_in_the_page_s(
    site: Site, language: str, question: str, answer: str, level: str, label: str
) -> None:
    page = site.open()
    page.get_by_role("combobox", name="Language").select_option(language)
    expect(page.locator("html")).not_to_have_attribute("lang", "en")
    page.get_by_role("textbox").fill(question)
    page.keyboard.press("Enter")
    expect(page.get_by_text(re.compile(answer)).first).to_be_visible()
    expect(page.get_by_text(re.compile(level)).first).to_be_visible()
    expect(page.get_by_text(label).first).to_be_visible()


@pytest.mark.parametrize("domain", ["records", "companies", "people", "projects", "campaigns"])
def test_no_label_of_a_tab_is_left_in_english(site: Site, domain: str) -> None:
    page = site.open(f"search?domain={domain}")
    page.get_by_role("combobox", name="Language").select_option("Deutsch")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("textbox").first).to_be_visible()
    # questions to try are about the data, which is English
    labels = page.locator("h1, .lead, nav a, summary, .field label, .foot a, [data-tools] button").all_inner_texts()
    english = re.compile(r"\b(the|and|with|your|search|ask|find|people|records|companies|for|any)\b", re.IGNORECASE)
    assert labels
    assert not [each for each in labels if english.search(each)]
