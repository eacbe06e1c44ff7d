"""Databases that prove who they are, by certificates made here for names of RDS, which lead to the embedded Postgres."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from quarry.platform.errors import ConfigurationError, DatabaseUnavailable
from quarry.postgres import connections, pool
from quarry.postgres.connections import DIRECTORY, PROXIES
from quarry.postgres.migrate import connect
from quarry.postgres.pool import Database
from tests.waiting import PATIENCE_SECONDS, wait_until

CLUSTER = "quarry.cluster-c7tj4example.us-east-1.rds.amazonaws.com"
PROXY = "quarry.proxy-c7tj4example.us-east-1.rds.amazonaws.com"
OTHER_CLUSTER = "other.cluster-c7tj4example.us-east-1.rds.amazonaws.com"

Key = ec.EllipticCurvePrivateKey


def certificate(name: str, key: Key, issuer: str, issuers_key: Key, *, hosts: tuple[str, ...] = ()) -> bytes:
    """A certificate; without `hosts` one of an authority."""
    now = datetime.now(UTC)
    alternatives = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=not hosts, path_length=None), critical=True)
    )
    if hosts:
        builder = builder.add_extension(alternatives, critical=False)
    return builder.sign(issuers_key, hashes.SHA256()).public_bytes(Encoding.PEM)


@pytest.fixture(scope="module")
def authority(server_url: str) -> Iterator[Path]:
    """The folder with the certificates of who signed the server's, while that speaks TLS as CLUSTER and PROXY."""
    with tempfile.TemporaryDirectory() as name, psycopg.connect(server_url, autocommit=True) as operator:
        folder, (root, server) = Path(name), (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        folder.chmod(0o755)
        signed = certificate("server", server, "authority", root, hosts=(CLUSTER, PROXY))
        for file in ("us-east-1.pem", f"{PROXIES}.pem"):
            (folder / file).write_bytes(certificate("authority", root, "authority", root))
        (folder / "server.crt").write_bytes(signed)
        key = folder / "server.key"
        key.touch(mode=0o600)
        key.write_bytes(server.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        [data] = operator.execute("show data_directory").fetchone() or ("",)
        os.chown(key, Path(data).stat().st_uid, -1)
        operator.execute(f"alter system set ssl_cert_file = '{folder}/server.crt'".encode())
        operator.execute(f"alter system set ssl_key_file = '{key}'".encode())
        operator.execute("alter system set ssl = on")
        _reload(operator, "on")
        yield folder
        for parameter in ("ssl", "ssl_cert_file", "ssl_key_file"):
            operator.execute(f"alter system reset {parameter}".encode())
        _reload(operator, "off")


def _reload(operator: psycopg.Connection, ssl: str) -> None:
    operator.execute("select pg_reload_conf()")
    wait_until(lambda: operator.execute("show ssl").fetchone() == (ssl,))


@pytest.fixture
def secured_url(server_url: str, authority: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of that server; its authority is taken for Amazon's."""
    monkeypatch.setattr(connections, "DIRECTORY", authority)
    return server_url


def at(url: str, host: str, more: str = "") -> str:
    """The URL of the server by another name."""
    parts = urlsplit(url)
    netloc = f"{parts.username}:{parts.password}@{host}:{parts.port}"
    return parts._replace(netloc=netloc, query=f"hostaddr=127.0.0.1{more}").geturl()


async def is_encrypted(url: str) -> bool:
    database = Database(url, pool_size=1, timeout_seconds=5)
    try:
        row = await database.row("select ssl from pg_stat_ssl where pid = pg_backend_pid()")
    finally:
        await database.close()
    assert row is not None
    return bool(row["ssl"])


async def ask_until_told(url: str) -> None:
    """Ask a database that cannot be reached: on a busy machine nothing is known yet when the first has waited long enough."""
    database = Database(url, pool_size=1, timeout_seconds=5)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                with suppress(DatabaseUnavailable):
                    await database.row("select 1 as one")
    finally:
        await database.close()


@pytest.mark.parametrize("host", [CLUSTER, PROXY])
async def test_a_database_on_rds_is_checked_and_served(secured_url: str, host: str) -> None:
    assert await is_encrypted(at(secured_url, host))
    with connect(at(secured_url, host)) as connection:
        assert connection.pgconn.ssl_in_use


@pytest.mark.parametrize(
    ("host", "more", "reason"),
    [
        (OTHER_CLUSTER, "", "does not match host name"),
        # Amazon's own authorities did not sign it
        (CLUSTER, f"&sslmode=verify-full&sslrootcert={DIRECTORY}/us-east-1.pem", "certificate verify failed"),
        (PROXY, f"&sslrootcert={DIRECTORY}/{PROXIES}.pem", "certificate verify failed"),
        (CLUSTER.replace("us-east-1", "xx-north-9"), "", "make certificates"),
    ],
)
async def test_one_that_cannot_prove_who_it_is_is_refused_and_that_is_told(
    secured_url: str, host: str, more: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "CONNECT_TIMEOUT_SECONDS", 0.3)
    url = at(secured_url, host, more)
    with pytest.raises(ConfigurationError, match=reason) as raised:
        await ask_until_told(url)
    password = urlsplit(url).password
    assert password
    assert password not in raised.value.message
    with pytest.raises(ConfigurationError, match=reason):
        await asyncio.to_thread(connect(url).__enter__)
