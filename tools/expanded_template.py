"""Writes `template.yaml` without YAML merges and `Globals`, for `make audit`: checkov ignores values that override others."""

from __future__ import annotations

import json
from pathlib import Path

from samcli.yamlhelper import yaml_dump, yaml_parse  # type: ignore[import-untyped]
from samtranslator.plugins.globals.globals import Globals  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[1]
EXPANDED = ROOT / ".aws-sam" / "expanded.yaml"


def main() -> None:
    # JSON shares no parts, so none is written as an alias
    template = json.loads(json.dumps(yaml_parse((ROOT / "template.yaml").read_text(encoding="utf-8"))))
    shared = Globals(template)
    for name, resource in template["Resources"].items():
        resource["Properties"] = shared.merge(resource["Type"], resource.get("Properties", {}), name)
    del template["Globals"]
    EXPANDED.parent.mkdir(exist_ok=True)
    EXPANDED.write_text(yaml_dump(json.loads(json.dumps(template))), encoding="utf-8")


if __name__ == "__main__":
    main()
