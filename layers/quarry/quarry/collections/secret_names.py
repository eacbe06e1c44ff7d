"""Column names that suggest secrets in several languages: passwords, keys, codes, links, card and identity numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Literal

from quarry.collections.guessing import words
from quarry.language.word_forms import singular

Certainty = Literal["certain", "uncertain"]

_IN_ANY_NAME = (
    """password passwd passphrase passwort kennwort contrasena motdepasse palavrapasse wachtwoord losenord""".split()
)
_ALWAYS = frozenset(
    """pwd pw psw mdp passcode senha parola token jeton secret secrete secreto secreta segreta segredo segreto geheim
    geheimnis hemlighet credential cred jwt otp totp hotp ciphertext encrypted crypted rands dsn ssn ssnid iban cvv cvc
    cvv2 cvc2 zugangsdaten anmeldedaten captcha p256dh actkey cpf curp cuil bsn pesel aadhaar aadhar dni nif nino""".split()
)
_PERHAPS = frozenset(
    """pass pin puk salt pepper hash digest signature nonce cookie cookies cipher mfa passkey passport pasaporte passeport
    reisepass passaporto paspoort auth authorization bearer sid jti clave chave chiave schlussel schluessel sleutel psk
    hmac mnemonic""".split()
)
"""Words that have other meanings too, and say nothing where another noun follows: a `signature_dish`, a `cookie_flavour`."""
_CARRIERS = frozenset(
    """value data string text code key number no num nr hex base64 b64 enc raw content body header response payload crypt
    hash salt id acceso usuario privada wifi jar""".split()
)
"""Nouns that may follow those."""
_ALONE = frozenset(("confirmation", "sess"))
_KEYS = """api app private priv secret access session encryption decryption signing auth login activation license licence ssh rsa
    gpg pgp master consumer webhook recovery stream push feed rss deploy host hmac shared wifi wpa wep invite invitation
    reset confirm confirmation unsubscribe verification security""".split()
_CODES = """login signin auth authorization authentication verification verify validation activation reset recovery backup
    security access invite invitation confirm confirmation otp sms pin unlock device door gate alarm entry lock pairing
    scratch emergency mfa twofactor 2fa onetime oauth grant registration protect challenge signup giftcard zugangs
    toegangs aktivierungs sicherheits bestatigungs""".split()
_ACCOUNTS = """card creditcard debitcard giftcard cc account acc acct bankaccount routing socialsecurity tax national
    nationalinsurance passport nhs medicare driverlicense driverslicense identity identification steuer
    sozialversicherungs konto karten kreditkarten ausweis personalausweis reisepass""".split()
_PEOPLE = "tax national steuer identification medicare passport driverlicense".split()
_SERVICES = (
    "user db smtp ftp imap mail email ldap admin root login wifi proxy redis database new old my ssh vpn".split()
)
_NUMBER = "number no num nr nummer".split()
_WHOLE = """passcrypt passhash passsalt privkey sessiondata sessionpayload sessionvalue authdata twofactor secondfactor
    securityanswer securityquestion connectionstring connectionurl connectionuri connstring connstr databaseurl
    databaseuri dburl dburi redisurl brokerurl amqpurl mongourl mongouri jdbcurl seedphrase recoveryphrase keystore
    keypair authorizedkey numerotarjeta tarjetacredito cartebancaire numerocarte kreditkarte numerocuenta cuentabancaria
    numerocompte bankverbindung segurosocial seguridadsocial securitesociale codicefiscale driverslicense driverlicense
    driverslicence driverlicence drivinglicense drivinglicence fuhrerschein fuehrerschein licenciaconducir permisconduire
    codigoacceso codeacces codigoverificacion codeverification claveprivada cleprivee bankaccount creditcard debitcard
    socialsecurity codeverifier oauthverifier cccid sicherheitsfrage sicherheitsantwort respuestaseguridad
    preguntaseguridad reponsesecurite questionsecurite codigoverificacao codigoacesso codiceaccesso cartacredito
    cartaocredito personnummer""".split()
_KEYS_FIRST = "cle clef clave chave chiave".split()
_OF_WHAT = "api privee privada privata secrete secreta segreta ssh acces acceso acesso accesso licence".split()
_KEYWORDS = ("palabraclave", "palabrasclave", "palavrachave", "palavraschave", "parolachiave", "parolechiave")
"""What keywords are called where keys and words for passwords are."""


def _compounds(modifiers: Iterable[str], heads: Iterable[str], certainty: Certainty) -> Mapping[str, Certainty]:
    return dict.fromkeys(map("".join, product(modifiers, heads)), certainty)


_COMPOUNDS: Mapping[str, Certainty] = {
    **_compounds(_CODES, ["code"], "uncertain"),
    **_compounds(["invite"], ["id"], "uncertain"),
    **_compounds(_KEYS, ["key", "schlussel", "schluessel"], "certain"),
    **_compounds(_KEYS_FIRST, _OF_WHAT, "certain"),
    "sessionid": "uncertain",
    **_compounds(_ACCOUNTS, _NUMBER, "certain"),
    **_compounds(_PEOPLE, ["id"], "certain"),
    **_compounds(_SERVICES, ["pass"], "certain"),
    **_compounds(_WHOLE, [""], "certain"),
}
_OF = ("de", "del", "di", "du", "d")
_RUN_TOGETHER_MIN, _LONG_MIN = 6, 12
"""A compound of so many letters is known at the end of a longer word too, as in `userapikey`; a long one at that of several
words, as in `emailactivation_code`.
"""
_WORDS_MAX = 3
"""So many words are joined to look for a compound, as in `bank_account_number`."""
_PRIVATE = frozenset(
    """webhook hook magic reset invite invitation unsubscribe optout signed presigned confirm confirmation verify
    verification activate activation push start login signin autologin auth token secret private sso recovery password
    callback postback ipn onetime join ical""".split()
)
_LINKS = frozenset("url uri link href endpoint".split())
_ONLY_ABOUT = frozenset(
    """type kind status state name label title count level strength policy algorithm algo format length size version expiry
    expires expiration expired enabled required attempt method provider issuer scope category brand class ttl limit usage
    used price rate currency network country city source symbol mode role description last4 last8 ending day hour minute
    second month year date time at on by typ anzahl art""".split()
)
"""Last words of what tells something about a secret, but not the secret."""
_ABOUT_FIRST = frozenset("is has can uses requires allow tipo nombre nome estado cantidad anzahl".split())
_OF_NUMBERS = frozenset("pin puk ssn cvv cvc cvv2 cvc2 otp totp passcode".split())
"""Last words of what whole numbers are secrets all the same."""


@lru_cache(maxsize=20_000)
def secrecy_of(name: str) -> Certainty | None:
    """Whether what is called so is a secret; None where the name does not say so."""
    said = words(name)
    if not said or said[0] in _ABOUT_FIRST or {said[-1], singular(said[-1])} & _ONLY_ABOUT:
        return None
    joined = "".join(said)
    if joined.endswith(_KEYWORDS):
        return None
    if any(part in joined for part in _IN_ANY_NAME):
        return "certain"
    parts = [word for word in said if word not in _OF]
    found = {
        *map(_always, said),
        *map(_compound, _joined(parts)),
        *(_compound(word, _RUN_TOGETHER_MIN) for word in said),
    }
    if "certain" in found:
        return "certain"
    return "uncertain" if "uncertain" in found or _is_perhaps(said) or _is_private_link(said) else None


def is_secret_number(name: str) -> bool:
    """Whether a whole number that is called so is a secret: a PIN or the number of a card, not a count of tokens."""
    said = words(name)
    ends = ("".join(said[-size:]) for size in range(1, _WORDS_MAX + 1))
    return bool(said) and (
        said[-1] in _OF_NUMBERS or any(end in _COMPOUNDS and end.endswith((*_NUMBER, "id", "code")) for end in ends)
    )


def is_link(name: str) -> bool:
    """Whether it is called an address of something on the web."""
    return not _LINKS.isdisjoint(words(name))


def _always(word: str) -> Certainty | None:
    one = singular(word)
    return "certain" if {word, one} & _ALWAYS or one.endswith(("token", "secret", "pwd")) else None


def _is_perhaps(said: Sequence[str]) -> bool:
    if len(said) == 1 and said[0] in _ALONE:
        return True
    forms = {said[-1], singular(said[-1])}
    is_last = forms & _PERHAPS or any(form.endswith("hash") for form in forms)
    return bool(is_last or (forms & _CARRIERS and _PERHAPS & {*map(singular, said[:-1])}))


def _joined(said: Sequence[str]) -> Iterator[str]:
    """Each word, and those that stand together written as one."""
    for size in range(1, _WORDS_MAX + 1):
        for start in range(len(said) - size + 1):
            joined = "".join(said[start : start + size])
            yield from (joined, singular(joined))


def _compound(joined: str, least: int = _LONG_MIN) -> Certainty | None:
    """What a compound says, or one of so many letters at the end of a longer word."""
    ends = (joined[start:] for start in range(max(len(joined) - least, 0) + 1))
    return next((_COMPOUNDS[end] for end in ends if end in _COMPOUNDS), None)


def _is_private_link(said: Sequence[str]) -> bool:
    """Whether it is an address that lets in whoever has it, or that only machines call."""
    if not _LINKS.isdisjoint(said):
        return not _PRIVATE.isdisjoint(said) or "webhook" in "".join(said)
    return any(word.endswith(link) and word.removesuffix(link) in _PRIVATE for word in said for link in _LINKS)
