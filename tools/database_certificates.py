"""Writes the certificates that databases of Amazon RDS are checked against: `make certificates`, or
`python -m tools.database_certificates BUNDLE…` with PEM files or addresses at AWS (GovCloud and China have bundles of their own).

They are kept in the repository, since a build reaches package indexes and nothing else. Each region has a file of its own: to
read all of them would take each new connection 20 ms. A region's file is written anew where a bundle holds it, and else left.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import urlopen

import certifi
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from quarry.postgres.rds import DIRECTORY, PROXIES

GLOBAL_BUNDLE = "https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem"
FETCH_SECONDS = 30.0

# Beta and Preview, which nobody's database is in, bear another name before the region's.
_OF_REGION = re.compile(r"Amazon RDS ([a-z]{2}(?:-[a-z]+)+-\d) Root CA \S+ G\d+")
_OF_PROXIES = re.compile(r"Amazon Root CA \d|Starfield Services Root Certificate Authority - G2")


def main(bundles: Iterable[str]) -> int:
    found: dict[str, list[x509.Certificate]] = defaultdict(list)
    for bundle in bundles:
        for certificate in x509.load_pem_x509_certificates(_read(bundle)):
            if match := _OF_REGION.fullmatch(_name(certificate)):
                found[match[1]].append(certificate)
    # Amazon Trust Services, which browsers trust too
    roots = x509.load_pem_x509_certificates(Path(certifi.where()).read_bytes())
    found[PROXIES] = [certificate for certificate in roots if _OF_PROXIES.fullmatch(_name(certificate))]
    for region, certificates in found.items():
        path = DIRECTORY / f"{region}.pem"
        path.write_text("".join(_text(certificate) for certificate in sorted(certificates, key=_name)))
    print(f"{len(found) - 1} regions, {sum(map(len, found.values()))} certificates")
    return 0


def _read(bundle: str) -> bytes:
    if bundle.startswith("https://"):
        with urlopen(bundle, timeout=FETCH_SECONDS) as response:  # noqa: S310
            content: bytes = response.read()
            return content
    return Path(bundle).read_bytes()


def _name(certificate: x509.Certificate) -> str:
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[0].value) if names else ""


def _text(certificate: x509.Certificate) -> str:
    """Its PEM under its name. Raises InvalidSignature where it is no root, ValueError where it is out of date."""
    certificate.verify_directly_issued_by(certificate)
    if certificate.not_valid_after_utc < datetime.now(UTC):
        raise ValueError(f"{_name(certificate)} is out of date")
    return f"# {_name(certificate)}\n{certificate.public_bytes(Encoding.PEM).decode()}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [GLOBAL_BUNDLE]))
