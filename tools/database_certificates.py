"""Writes the certificates for verifying Amazon RDS databases: `make certificates`, or `python -m tools.database_certificates
BUNDLE…` with PEM files or addresses at AWS (GovCloud and China have their own bundles).

They are kept in the repository, because a build only reaches package indexes. Each region has its own file: reading all of them
would add 20 ms to each new connection. A region's file is rewritten if a bundle contains it, and otherwise kept.
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

from quarry.postgres.connections import DIRECTORY, PROXIES

GLOBAL_BUNDLE = "https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem"
FETCH_SECONDS = 30.0

# Beta and Preview regions, which have no databases, have another prefix.
_OF_REGION = re.compile(r"Amazon RDS ([a-z]{2}(?:-[a-z]+)+-\d) Root CA \S+ G\d+")
_OF_PROXIES = re.compile(r"Amazon Root CA \d|Starfield Services Root Certificate Authority - G2")


def main(bundles: Iterable[str]) -> int:
    by_authority: dict[str, list[x509.Certificate]] = defaultdict(list)
    for bundle in bundles:
        for certificate in x509.load_pem_x509_certificates(_download(bundle)):
            if match := _OF_REGION.fullmatch(_name(certificate)):
                by_authority[match[1]].append(certificate)
    # Amazon Trust Services, which browsers trust too
    roots = x509.load_pem_x509_certificates(Path(certifi.where()).read_bytes())
    by_authority[PROXIES] = [certificate for certificate in roots if _OF_PROXIES.fullmatch(_name(certificate))]
    for region, certificates in by_authority.items():
        path = DIRECTORY / f"{region}.pem"
        path.write_text("".join(_text(certificate) for certificate in sorted(certificates, key=_name)))
    print(f"{len(by_authority) - 1} regions, {sum(map(len, by_authority.values()))} certificates")
    return 0


def _download(bundle: str) -> bytes:
    if bundle.startswith("https://"):
        with urlopen(bundle, timeout=FETCH_SECONDS) as response:  # noqa: S310
            content: bytes = response.read()
            return content
    return Path(bundle).read_bytes()


def _name(certificate: x509.Certificate) -> str:
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[0].value) if names else ""


def _text(certificate: x509.Certificate) -> str:
    """The PEM of a certificate under its name. Raises InvalidSignature if it is not a root, ValueError if it has expired."""
    certificate.verify_directly_issued_by(certificate)
    if certificate.not_valid_after_utc < datetime.now(UTC):
        raise ValueError(f"{_name(certificate)} is out of date")
    return f"# {_name(certificate)}\n{certificate.public_bytes(Encoding.PEM).decode()}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [GLOBAL_BUNDLE]))
