"""A client of the API: it signs up and in by allauth's app client, then uses the REST API with a session token."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from common.ids import new_id

APP = "/_allauth/app/v1"


@dataclass(frozen=True)
class Upload:
    """The body of an upload: a form with a file and other fields."""

    content: bytes
    name: str
    fields: dict[str, str] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Return the form in the encoding of Django's test client."""
        file = SimpleUploadedFile(self.name, self.content)
        return encode_multipart(BOUNDARY, {**self.fields, "file": file})


class Api:
    """A client that sends JSON, with the token of a session (`token`), an API token (`bearer`), or without sign-in."""

    def __init__(self, token: str | None = None) -> None:
        self.client = Client()
        self.token = token
        self.bearer: str | None = None

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"X-Session-Token": self.token} if self.token else {}
        if self.bearer:
            headers["Authorization"] = f"Bearer {self.bearer}"
        url = path if path.startswith("/") else f"/api/v1/{path}"
        response: Any
        if isinstance(body, Upload):
            response = self.client.generic(method, url, body.encode(), MULTIPART_CONTENT, headers=headers)
        else:
            response = self.client.generic(method, url, json.dumps(body or {}), "application/json", headers=headers)
        if response.streaming:
            # Reading a download to its end closes its file.
            response.streaming_content = [b"".join(response.streaming_content)]
        return response

    def ok(self, method: str, path: str, body: Any = None) -> Any:
        """Return the JSON of the response. Fails if the request was refused."""
        response = self(method, path, body)
        assert response.status_code < 300, (response.status_code, response.content)
        return response.json() if response.content else None

    def refused(self, status: int, code: str, method: str, path: str, body: Any = None) -> Any:
        """Return the JSON of the error. Fails if the response was another one."""
        response = self(method, path, body)
        assert (response.status_code, response.json()["error"]["code"]) == (status, code), response.content
        return response.json()["error"]


def sign_up(name: str, password: str = "a long enough password") -> Api:
    """Return a client of a new person who is signed in."""
    body = {"email": f"{name.lower()}@example.org", "password": password, "name": name}
    answer = Api()("POST", f"{APP}/auth/signup", body)
    assert answer.status_code == 200, answer.content
    return Api(answer.json()["meta"]["session_token"])


def sign_in(email: str, password: str) -> Api:
    """Return a client of a person who has an account."""
    answer = Api()("POST", f"{APP}/auth/login", {"email": email, "password": password})
    assert answer.status_code == 200, answer.content
    return Api(answer.json()["meta"]["session_token"])


def message_body(text: str, **more: Any) -> dict[str, Any]:
    return {"id": str(new_id()), "text": text, **more}
