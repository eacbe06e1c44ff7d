"""Puts the page's files together, so that a first visit makes few requests: one script of many modules, one style sheet of many.

Our own files are written so that this is a matter of lines: imports and exports stand at the start of a line, and nothing imports
in a circle. `python page_bundle.py FOLDER` replaces the files of a built package by what is served: putting them together takes
longer than a function's first answer should.
"""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypedDict

ASSETS = "assets"
BUILT = "built.json"
EMBEDDED = "embed/quarry-ask.js"
LANGUAGES = "languages"
"""The folder of the messages of languages other than English, which `tools/translations.py` writes."""
VERSION_LENGTH = 12
DOCUMENTS = ("index.html", "reference.html")
STYLES = ("vendor/public-sans/public-sans.css", "base.css", "components.css")
BUNDLES = {
    "page": ("app.js", (*STYLES, "views.css")),
    "reference": ("reference/reference.js", (*STYLES, "reference/reference.css")),
}
"""By the name of a bundle its script and its style sheets."""

ReadFile = Callable[[str], str]
"""The source of a file by its path, without its comments."""

# only comments on lines of their own: others may be part of a string
_COMMENT = re.compile(r"^[ \t]*(?:/\*(?:(?!\*/).)*\*/[ \t]*|//[^\n]*)\n", re.DOTALL | re.MULTILINE)
_BLANK = re.compile(r"^\s+", re.MULTILINE)
_IMPORT = re.compile(r"^import (?:\{(?P<names>[^}]*)\}|\* as (?P<all>\w+)) from '(?P<path>[^']+)';$", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_EXPORTS = re.compile(r"(?:^|(?<=;))export ?\{([^}]*)\};?$", re.MULTILINE)
_OTHER_FORM = re.compile(r"^(?:import|export)\b", re.MULTILINE)


class NotBundled(Exception):
    """A file has an import or an export of another form, or imports itself by way of others."""


class Parts(TypedDict):
    """What is served: the texts of documents and assets by their names, the version in the assets' addresses, and the hash of the
    script within the documents, as a Content-Security-Policy has it.
    """

    files: dict[str, str]
    version: str
    boot_hash: str


def put_together(folder: Path) -> Parts:
    """The page whose files are in a folder. Raises NotBundled."""
    root = folder / ASSETS

    def read(name: str) -> str:
        source = (root / name).read_text(encoding="utf-8")
        # vendored files are served unchanged, with their licence
        is_ours = name.endswith((".css", ".js")) and not name.startswith("vendor/")
        return without_comments(source) if is_ours else source

    licences = (path.relative_to(root).as_posix() for path in sorted(root.glob("vendor/*/LICENSE")))
    files = {name: read(name) for name in (EMBEDDED, "icon.svg", *licences)}
    messages = {path.stem: path.read_text(encoding="utf-8") for path in sorted((root / LANGUAGES).glob("*.json"))}
    files |= {
        f"{LANGUAGES}/{code}.js": f"globalThis.quarryMessages = {text.strip()};\n" for code, text in messages.items()
    }
    files[EMBEDDED] = with_messages(files[EMBEDDED], {code: json.loads(text) for code, text in messages.items()})
    for name, (script, styles) in BUNDLES.items():
        files |= {f"{name}.js": bundle_script(read, script), f"{name}.css": "\n".join(map(read, styles))}
    version = hashlib.sha256("".join(name + text for name, text in files.items()).encode()).hexdigest()[:VERSION_LENGTH]
    boot, icon = read("boot.js"), base64.b64encode(read("icon.svg").encode()).decode()
    for name in DOCUMENTS:
        html = (folder / name).read_text(encoding="utf-8")
        html = html.replace('<script src="assets/boot.js"></script>', f"<script>{boot}</script>")
        html = html.replace('"assets/icon.svg"', f'"data:image/svg+xml;base64,{icon}"')
        files[name] = html.replace(f'"{ASSETS}/', f'"{ASSETS}/{version}/')
    files |= {f"index.{code}.html": in_language(files["index.html"], code, version) for code in messages}
    boot_hash = base64.b64encode(hashlib.sha256(boot.encode()).digest()).decode()
    return Parts(files=files, version=version, boot_hash=boot_hash)


def in_language(html: str, code: str, version: str) -> str:
    """The document of a language: it loads the messages before the page, which finds them there."""
    messages = f'<script defer src="{ASSETS}/{version}/{LANGUAGES}/{code}.js"></script>\n  '
    return html.replace('<html lang="en">', f'<html lang="{code}">').replace(
        "<script type", f"{messages}<script type", 1
    )


def with_messages(source: str, messages: Mapping[str, Mapping[str, Any]]) -> str:
    """The embedded element with its own messages: it is one file, and loads no other."""
    own = {
        code: {text: translation for text, translation in catalogue.items() if f"'{text}'" in source}
        for code, catalogue in messages.items()
    }
    return source.replace("const MESSAGES = {};", f"const MESSAGES = {json.dumps(own, ensure_ascii=False)};", 1)


def without_comments(source: str) -> str:
    """A script or style sheet without its comments, indents and empty lines; no text in them goes on over several lines."""
    return _BLANK.sub("", _COMMENT.sub("", source))


def bundle_script(read: ReadFile, entry: str) -> str:
    """One module of `entry` and all that it imports: each becomes a function that is called once, after those that it imports."""
    done: dict[str, str] = {}
    parts: list[str] = []
    _add(read, entry, (), done, parts)
    return "\n".join(parts) + "\n"


def _add(read: ReadFile, path: str, above: tuple[str, ...], done: dict[str, str], parts: list[str]) -> str:
    """The name of a module in the bundle, which it is added to with what it imports."""
    if path in above:
        raise NotBundled(f"{path} imports itself: {' → '.join([*above, path])}")
    if path in done:
        return done[path]
    folder = posixpath.dirname(path)

    def bind(match: re.Match[str]) -> str:
        imported = posixpath.normpath(posixpath.join(folder, match["path"]))
        name = _add(read, imported, (*above, path), done, parts)
        return f"const {match['all'] or '{' + match['names'].replace(' as ', ': ') + '}'} = {name};"

    source = _IMPORT.sub(bind, read(path))
    exported = {name: name for name in _EXPORTED.findall(source)}
    source = _EXPORTED.sub("", source)
    for listed in _EXPORTS.findall(source):
        for each in filter(None, map(str.strip, listed.split(","))):
            local, _, name = each.partition(" as ")
            exported[name or local] = local
    source = _EXPORTS.sub("", source)
    if other := _OTHER_FORM.search(source):
        raise NotBundled(f"{path}: {source[other.start() :].partition(chr(10))[0]}")
    name = done[path] = f"_{len(done)}"
    returned = ", ".join(public if public == local else f"{public}: {local}" for public, local in exported.items())
    parts.append(f"const {name} = (() => {{\n{source.strip()}\nreturn {{{returned}}};\n}})();")
    return name


def main(folder: Path) -> None:
    (folder / BUILT).write_text(json.dumps(put_together(folder), ensure_ascii=False), encoding="utf-8")
    shutil.rmtree(folder / ASSETS)
    for name in DOCUMENTS:
        (folder / name).unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
