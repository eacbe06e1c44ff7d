"""template.yaml as data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from samcli.yamlhelper import yaml_parse  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[2]


def read_template() -> dict[str, Any]:
    """The template, `!Ref X` read as `{"Ref": "X"}` and so on."""
    template: dict[str, Any] = yaml_parse((ROOT / "template.yaml").read_text())
    return template


def functions(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The properties of each Lambda function, by the name of its folder."""
    return {
        Path(resource["Properties"]["CodeUri"]).name: resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Function"
    }
