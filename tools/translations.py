"""The catalogues of messages: `python -m tools.translations` brings `translations/*.po` up to date with the source, and
compiles them.

A message is what `quarry.language.messages` or the page's `messages.js` says, a phrase of `query/data/sentences.toml` or the
wording of a built-in facet or field. English is the source. The catalogue of a language keeps the translation of each message
that is still there, and gets an empty one for each new message: `tests/language/test_catalogues.py` fails until it is filled in.
"""

from __future__ import annotations

import argparse
import datetime
import io
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "layers" / "quarry" / "quarry"
FOLDER = ROOT / "translations"
LANGUAGES = ("de", "fr")
PAGE = "page/"
"""Messages of these files are for the browser."""

KEYWORDS: dict[str, Any] = {
    "gettext": None, "gettext_noop": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2),
}  # fmt: skip
SENTENCES = "query/data/sentences.toml"
DECLARATIONS = ("records/quarry.toml", "companies/quarry.toml", "campaigns/quarry.toml", "people/quarry.toml")
_WORDING = re.compile(r'\bwording="([^"]+)"')

NO_DATE = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
"""The date in compiled catalogues, so that equal ones have equal bytes."""

Message = tuple[str, str | tuple[str, str], str | None]
"""The file of a message, its text, or its texts for one and for several, and its context."""


def messages() -> Iterator[Message]:
    """The messages of the source."""
    for path in sorted([*PACKAGE.rglob("*.py"), *(PACKAGE / "page").rglob("*.js")]):
        name = path.relative_to(PACKAGE).as_posix()
        if "/vendor/" in name:
            continue
        method = "javascript" if path.suffix == ".js" else "python"
        # a private method of a class is called as the function is
        source = path.read_text(encoding="utf-8").replace("this.#", "")
        for _, text, _, context in extract(method, io.BytesIO(source.encode()), KEYWORDS):
            if text:
                yield name, text if isinstance(text, str) else (text[0], text[1]), context
        for wording in _WORDING.findall(source) if path.suffix == ".py" else ():
            yield name, wording, "wording"
    for key, text in tomllib.loads((PACKAGE / SENTENCES).read_text(encoding="utf-8")).items():
        yield SENTENCES, text, key
    for name in DECLARATIONS:
        for wording in _wordings(tomllib.loads((PACKAGE / name).read_text(encoding="utf-8"))):
            yield name, wording, "wording"


def _wordings(declared: Any) -> Iterator[str]:
    """The wordings of facets in a declaration."""
    for key, value in declared.items():
        if key == "wording":
            yield value
        elif isinstance(value, dict):
            yield from _wordings(value)


def catalogue(code: str) -> Catalog:
    """The messages of the source with their translations, as far as the stored catalogue has them."""
    path = FOLDER / f"{code}.po"
    stored = read_po(io.BytesIO(path.read_bytes()), locale=code) if path.exists() else Catalog(code)
    result = Catalog(
        code, fuzzy=False, header_comment="# Messages of Quarry. See tools/translations.py.", charset="utf-8"
    )
    for name, text, context in messages():
        translated = stored.get(text if isinstance(text, str) else text[0], context)
        is_same = translated is not None and translated.id == text
        result.add(
            text, translated.string if translated is not None and is_same else None, [(name, 0)], context=context
        )
    return result


def generated_catalogues() -> dict[Path, bytes]:
    """The content of each catalogue, and of each compiled one, by path."""
    files: dict[Path, bytes] = {}
    for code in LANGUAGES:
        translations = catalogue(code)
        files[FOLDER / f"{code}.po"] = _po(translations)
        files[PACKAGE / "language" / "data" / f"{code}.mo"] = _mo(translations)
        files[PACKAGE / "page" / "assets" / "languages" / f"{code}.json"] = _json(translations)
    return files


def _po(translations: Catalog) -> bytes:
    text = io.BytesIO()
    write_po(text, translations, width=120, omit_header=False, sort_output=False, include_lineno=False)
    lines = text.getvalue().decode().splitlines(keepends=True)
    passing = (
        '"POT-Creation-Date',
        '"PO-Revision-Date',
        '"Generated-By',
        '"Last-Translator',
        '"Language-Team',
        '"Report-Msgid',
        '"Project-Id',
    )
    return "".join(line for line in lines if not line.startswith(passing)).encode()


def _mo(translations: Catalog) -> bytes:
    """The compiled messages of the package."""
    compiled = Catalog(translations.locale, fuzzy=False, charset="utf-8", creation_date=NO_DATE, revision_date=NO_DATE)
    for each in translations:
        if each.id and any(not name.startswith(PAGE) for name, _ in each.locations):
            compiled.add(each.id, each.string, context=each.context)
    buffer = io.BytesIO()
    write_mo(buffer, compiled)
    return buffer.getvalue()


def _json(translations: Catalog) -> bytes:
    """The messages of the page: a text, or a text for each plural form, by context and message as gettext joins them."""
    messages = {
        f"{each.context}\x04{_one(each.id)}" if each.context else _one(each.id): each.string
        for each in translations
        if each.id and any(name.startswith(PAGE) for name, _ in each.locations)
    }
    return (json.dumps(messages, ensure_ascii=False, indent=0, sort_keys=True) + "\n").encode()


def _one(text: Any) -> str:
    return str(text if isinstance(text, str) else text[0])


def main() -> int:
    """Writes the catalogues, or says with `--check` which are not up to date."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.translations", description="Write the catalogues of messages."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not up to date")
    check = parser.parse_args().check
    files = generated_catalogues()
    stale = [path for path, text in files.items() if not path.exists() or path.read_bytes() != text]
    for path in stale:
        if check:
            print(f"{path.relative_to(ROOT)} is not up to date: run `python -m tools.translations`", file=sys.stderr)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[path])
        print(f"wrote {path.relative_to(ROOT)}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
