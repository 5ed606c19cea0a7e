"""Why a server's certificate is refused, in the words of the findings."""

import ssl
from collections.abc import Mapping

# What OpenSSL finds wrong with a certificate, by its number (X509_V_ERR_…).
_CASES: Mapping[int, str] = {
    7: "stranger",
    9: "early",
    10: "late",
    18: "stranger",
    19: "stranger",
    20: "stranger",
    21: "stranger",
    62: "name",
    64: "name",
}


def untrusted_case(error: ssl.SSLCertVerificationError) -> str:
    """Return the case of the finding about a certificate that was refused."""
    return _CASES.get(error.verify_code, "unverified")
