"""Secrets in tables that only `quarry map` has looked at: hidden by their names, their tables' names and what they hold."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.collections.catalog_reading import relations_of_schema
from quarry.collections.relations import Shape, traits_of
from quarry.collections.secrets import Suspicion, secrecy_of, suspicion
from quarry_map.drafting import draft
from tests.collections.conftest import opened, schema_text
from tests.collections.made import column, table
from tests.collections.support import drafted
from tests.conftest import client_of

NAMES = """
    password passwd user_password_hash passwordhash apiKey API_KEY client_secret session_token refreshtokens ssn card_number
    creditCardNo cvv iban account_number social_security_number tax_id otp_secret recovery_codes sha256_hash contraseña Kennwort
    pass_crypt pass_salt user_pass user_activation_key pass user_actkey rands loginkey session_data validation_code pw hashed_pw
    privkey ssh_key bearer smtp_pass db_pass dsn connection_string login_code auth_code drivers_license clave security_answer
    encrypted_password reset_password_token otp_backup_codes key_p256dh encrypted_otp_secret_iv consumer_secret stream_key
    two_factor_recovery_codes remember_token user_newpasswd cc_number_enc identification_id passport_number mot_de_passe
    numéro_de_carte código_de_acceso Schlüssel Steuernummer Zugangscode salt pin hash digest signature cookies nonce userapikey
    webhook_url magic_link reset_link invite_url unsubscribe_link presigned_url signedUrl webhookurl magiclink password_hint
    sicherheitsantwort respuesta_secreta réponse_sécurité clé_api code_d_accès chave_api codigo_verificacao codice_fiscale
    chiave_privata toegangscode lösenord personnummer code_verifier start_url session_id
""".split()
"""Of applications that many run, and in other languages."""

OTHER_NAMES = """
    hashtag aggregate_code block_code shipping_code secretary secretariat card_type card_brand last4 password_policy account_id
    description pinned keyword passage compass bypass passenger salty salt_level token_type token_name tokenizer key issue_key
    sort_key public_key contact_key fact_key monkey code country_code zip_code ticket_code order_number coupon_code product_code
    invoice_number isbn sku barcode confirmation_number signature_dish cookie_flavour signature_required license license_plate
    website_url url image_url clave_producto palabra_clave mot_clé Schlüsselwort session_title host start_date answer question
    username login author authority expertise phone_number address
""".split()


def test_secrets_are_known_by_their_names_and_what_only_sounds_like_one_is_none() -> None:
    assert [name for name in NAMES if not secrecy_of(name)] == []
    assert [name for name in OTHER_NAMES if secrecy_of(name)] == []
    types = ("boolean", "date", "timestamp with time zone", "mood", "inet", "interval", "numeric(10,2)")
    assert [type for type in types if told("password", type)] == []


def told(name: str, type: str = "text", of: str = "things", rows: int | None = None, **known: Any) -> Suspicion | None:
    """Why a column of a table is suspected."""
    made = column(name, type, **known)
    return suspicion(made, table(of, [("id", "integer"), made], key=["id"], rows=rows))


@pytest.mark.parametrize(
    ("of", "name"),
    [
        ("invites", "code"), ("webhooks", "url"), ("authtoken_token", "key"), ("email_tokens", "value"),
        ("wp_options", "option_value"), ("ci_variables", "value"),
    ],
)  # fmt: skip
def test_a_column_is_what_its_table_is_called_after(of: str, name: str) -> None:
    assert told(name, of=of) is not None
    assert told(name, of="hedges") is None or name.endswith("url")
    assert told(name, of="orders") is None or name.endswith("url")


HEX = [hashlib.md5(str(n).encode(), usedforsecurity=False).hexdigest() for n in range(20)]
BASE62 = [f"{n:x}kX3{digest[:9]}Qr{digest[9:16]}Zt8" for n, digest in enumerate(HEX)]


@pytest.mark.parametrize(
    ("values", "shape"),
    [
        (["plain", "$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA"], Shape.CREDENTIALS),
        (["pbkdf2_sha256$260000$salt$hash=", "$P$B0123456789abcdef", "{SSHA}abcdefgh"], Shape.CREDENTIALS),
        (["sk-proj-abcdefghijklmnop1234"], Shape.CREDENTIALS),
        (["-----BEGIN RSA PRIVATE KEY-----\nMIIE"], Shape.CREDENTIALS),
        (["postgres://app:word@db/app"], Shape.LINKS),
        (["https://x.example/a?token=abcdefghijklmnop"], Shape.LINKS),
        (["4111 1111 1111 1111", "5555555555554444", "378282246310005"], Shape.ACCOUNTS),
        (["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "FR1420041010050500013M02606"], Shape.ACCOUNTS),
        (HEX, Shape.RANDOM),
        (BASE62, Shape.RANDOM),
        (["With kind regards", "See you soon", "Yours"], Shape.WORDS),
    ],
)  # fmt: skip
def test_credentials_are_known_by_their_form(values: list[str], shape: Shape) -> None:
    seen = traits_of(values)
    assert seen is not None
    assert seen.shape == shape


@pytest.mark.parametrize(
    "values",
    [
        [f"TCK-{n:06}" for n in range(20)],
        [f"123e4567-e89b-12d3-a456-4266141740{n:02}" for n in range(20)],
        [f"IMG_20240312_{n:04}_w1024h768.jpg" for n in range(20)],
        [f"the-hedge-at-the-end-of-lane-{n}" for n in range(20)],
        [f"https://hedges.example/posts/{n}?page=2" for n in range(20)],
    ],
)
def test_codes_that_people_type_are_no_secrets(values: list[str]) -> None:
    seen = traits_of(values)
    assert seen is not None
    assert (seen.shape, seen.keys) == (Shape.OTHER, frozenset())


HIDDEN = {
    "members": [
        "pass_crypt", "pass_salt", "user_pass", "user_activation_key", "pass", "user_actkey", "rands", "loginkey",
        "validation_code", "pw", "hashed_pw", "drivers_license", "clave", "security_answer", "magic_link", "pin",
    ],
    "mail_servers": [
        "smtp_pass", "db_pass", "dsn", "connection_string", "privkey", "ssh_key", "bearer", "login_code", "auth_code",
        "webhook_url", "settings", "request_headers",
    ],
    "letters": ["x1", "x2", "x3", "x4", "x5", "x6", "extra"],
    "invites": ["code", "url"],
    "lessons_sessions": ["session_data"],
    "site_options": ["option_value"],
    "sessions": ["id", "payload"],
}  # fmt: skip


class TestDraft:
    def test_every_secret_is_hidden_with_its_reason(self, server_url: str) -> None:
        with opened(server_url, "secrets") as (_, connection):
            made = draft("public", relations_of_schema(connection, "public"))
        collections = dict(tomllib.loads(made.text)["collections"])
        assert {name: each.get("hidden", []) for name, each in collections.items()} == HIDDEN
        assert made.skipped == {
            "odd_notes": 'may hold secrets in "pass{word}", which `hidden` cannot name: declare a view without them'
        }
        assert '  "pass_crypt",  # a secret: by its name\n' in made.text
        assert '  "x1",  # a secret: its values look like keys, tokens or password hashes\n' in made.text
        line = '  "x2",  # may be a secret: its values look random, as tokens do; delete this line to show it'
        assert f'{line}, add `x2 = "D"` to `text` to search it\n' in made.text
        assert "zqsecret" not in made.text
        assert collections["members"]["url"] == "{homepage_url}"
        assert "url" not in collections["invites"]
        assert collections["members"]["facets"]["number"] == ["token_count", "tokens_used", "total_replies"]


@pytest.fixture(scope="module")
def applied(server_url: str, migrated_template: str) -> Iterator[str]:
    """A database whose draft was applied unedited."""
    with drafted(server_url, migrated_template, "public", schema_text("secrets") + "analyze;") as url:
        yield url


@pytest.fixture(scope="module")
def client(applied: str) -> Iterator[TestClient]:
    with client_of(applied) as client:
        yield client


class TestService:
    """What anybody is told who asks for what was hidden."""

    def test_no_record_is_found_by_a_secret(self, client: TestClient, applied: str) -> None:
        with psycopg.connect(applied) as connection:
            [hashed] = connection.execute("select x1 from letters where code = 'LT-7'").fetchone() or [""]
        assert client.get("/records/search", params={"q": "Member 7"}).json()["results"]
        for secret in ("zqsecreta7", "zqsecretn7", hashed.removeprefix("$2b$12$"), "zqsecretz7", "770007"):
            found = client.get("/records/search", params={"q": f'"{secret}"'})
            assert found.status_code == 200
            assert found.json()["results"] == []

    @pytest.mark.parametrize("type", ["members", "letters", "mail_servers"])
    def test_no_record_that_is_opened_holds_a_secret(self, client: TestClient, type: str) -> None:
        key = "LT-7" if type == "letters" else "7"
        record = client.get(f"/records/{type}/{key}")
        assert record.status_code == 200
        call = {"name": "get", "arguments": {"source": type, "id": key}}
        told = client.post(
            "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}, headers=MCP
        )
        assert told.json()["result"]["structuredContent"]["id"] == key
        listed = client.get("/collections").json()["collections"]
        [described] = [json.dumps(each) for each in listed if each["name"] == type]
        for text in (record.text, told.text, described):
            assert "zqsecret" not in text
            assert "770007" not in text
            assert not any(f'"{name}"' in text for name in HIDDEN[type])

    def test_nothing_is_kept_of_a_secret(self, applied: str) -> None:
        with psycopg.connect(applied) as connection:
            names = connection.execute(OWN_TABLES).fetchall()
            assert ("quarry.rows_1",) in names
            for (name,) in names:
                held = connection.execute(
                    f"select count(*) from {name} t where t::text ~ 'zqsecret|77000[0-9]'".encode()
                ).fetchone()
                assert held == (0,), name


OWN_TABLES = """
select format('quarry.%I', relname) from pg_class
where relnamespace = 'quarry'::regnamespace and relkind = 'r' and relname !~ '^search_run'
"""
"""All but what was asked, which a log keeps."""
MCP = {"Accept": "application/json, text/event-stream"}
