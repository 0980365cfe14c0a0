"""The signature of Standard Webhooks, compared with examples of theirs."""

import pytest

from common.secrets import Secret
from common.standard_webhooks import build_signature_headers, create_signing_secret


def test_the_signature_is_that_of_the_specification() -> None:
    body, secret = b'{"event_type":"ping","data":{"success":true}}', Secret("whsec_plJ3nmyCDGBKInavdOK15jsl")
    assert build_signature_headers(secret, id="msg_loFOjxBNrRLzqYUf", at=1731705121, body=body) == {
        "webhook-id": "msg_loFOjxBNrRLzqYUf",
        "webhook-timestamp": "1731705121",
        "webhook-signature": "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
    }


@pytest.mark.parametrize("prefix", ["whsec_", ""])
def test_the_signature_is_that_of_the_reference_library(prefix: str) -> None:
    secret = Secret(f"{prefix}MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    found = build_signature_headers(
        secret, id="msg_p5jXN8AQM9LWM0D4loKWxJek", at=1614265330, body=b'{"test": 2432232314}'
    )
    assert found["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_that_is_not_base64_is_refused() -> None:
    with pytest.raises(ValueError, match="base64"):
        build_signature_headers(Secret("whsec_a b"), id="msg", at=1, body=b"")
    assert build_signature_headers(create_signing_secret(), id="msg", at=1, body=b"")
