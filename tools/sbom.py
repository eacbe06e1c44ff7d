"""The deployed packages as a CycloneDX 1.6 bill of materials: every distribution in the built layers, with its licence and
dependencies. `make build` writes it next to the build.

    python -m tools.sbom .aws-sam/build/sbom.cdx.json .aws-sam/build/*Layer/python
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from quarry import __version__

NAME = "quarry-search"

_REQUIRED_NAME = re.compile(r"[A-Za-z0-9._-]+")


def bill_of_materials(layers: Iterable[Path]) -> dict[str, Any]:
    """The bill of materials. It has no serial number and no date, so the same layers give the same text."""
    packages = sorted(distributions(path=list(map(str, layers))), key=normalised_name)
    references = {normalised_name(each): _reference(each) for each in packages}
    this = f"pkg:pypi/{NAME}@{__version__}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": this, "name": NAME, "version": __version__, "purl": this}
        },
        "components": [_component(each) for each in packages],
        "dependencies": [
            {"ref": this, "dependsOn": [*references.values()]},
            *({"ref": _reference(each), "dependsOn": sorted(_required(each, references))} for each in packages),
        ],
    }


def _component(distribution: Distribution) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": _reference(distribution),
        "name": distribution.name,
        "version": distribution.version,
        "purl": _reference(distribution),
    }
    if expressions := distribution.metadata.get_all("License-Expression"):
        component["licenses"] = [{"expression": each} for each in expressions]
    elif names := _licence_names(distribution):
        component["licenses"] = [{"license": {"name": name}} for name in names]
    return component


def _licence_names(distribution: Distribution) -> list[str]:
    """The licences in the classifiers, or in the older field if that is a name and not the whole text."""
    classified = distribution.metadata.get_all("Classifier") or []
    names = [each.rpartition(" :: ")[2] for each in classified if each.startswith("License :: ")]
    stated = distribution.metadata.get_all("License") or []
    return names or [each for each in stated if "\n" not in each.strip()]


def _required(distribution: Distribution, references: dict[str, str]) -> Iterable[str]:
    """The dependencies that are in the layers; extras and packages for other platforms are not."""
    required = {_normalised(match[0]) for each in distribution.requires or () if (match := _REQUIRED_NAME.match(each))}
    return (references[name] for name in required & references.keys())


def _reference(distribution: Distribution) -> str:
    return f"pkg:pypi/{normalised_name(distribution)}@{distribution.version}"


def normalised_name(distribution: Distribution) -> str:
    """The name as in requirements."""
    return _normalised(distribution.name)


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    target, *layers = map(Path, sys.argv[1:])
    target.write_text(json.dumps(bill_of_materials(layers), indent=2) + "\n")
