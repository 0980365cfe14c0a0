"""Descriptions of allauth's sign-up, sign-in and session for programs (its client `app`), which our OpenAPI document contains.

allauth documents all of its operations for every configuration, with fields that do not exist here.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from common.request_types import Language, Name
from common.rest import Body

SESSION_PATH = "/_allauth/app/v1/auth/session"


class SignInBody(Body):
    email: str = Field(max_length=254, json_schema_extra={"format": "email"})
    password: str


class SignUpBody(SignInBody):
    name: Name
    """The name that others see."""
    language: Language | None = None
    """The language of mails and of the web app."""
    invitation: str = Field(default="", max_length=100)
    """The secret of an invite link, the end of its address, where sign-up requires one."""


class SignedInUser(BaseModel):
    """The person who is signed in. `GET me` has more."""

    model_config = ConfigDict(extra="allow")

    id: str


class SignedInData(BaseModel):
    model_config = ConfigDict(extra="allow")

    user: SignedInUser


class SessionMeta(BaseModel):
    """Whether the session is signed in. `session_token` is for the header `X-Session-Token`, and is only there if it is new."""

    model_config = ConfigDict(extra="allow")

    is_authenticated: bool | None = None
    session_token: str | None = None


class SignedIn(BaseModel):
    """The session, with the person who is signed in."""

    status: Literal[200]
    data: SignedInData
    meta: SessionMeta


class SignedOut(BaseModel):
    """No session (401), or one that has ended (410)."""

    model_config = ConfigDict(extra="allow")

    status: Literal[401, 410]
    meta: SessionMeta


class AccountFieldError(BaseModel):
    model_config = ConfigDict(extra="allow")

    code: str
    message: str
    param: str | None = None


class AccountFieldErrors(BaseModel):
    """What is wrong in the fields, in the form of allauth."""

    status: Literal[400]
    errors: list[AccountFieldError]


MODELS = (SignInBody, SignUpBody, SignedIn, SignedOut, AccountFieldErrors)


def build_account_operations(reference: str) -> dict[str, dict[str, Any]]:
    """Return the paths of the OpenAPI document. `reference`: the `$ref` of a component, with `{model}` for its name."""

    def describe(text: str, model: str) -> dict[str, Any]:
        schema = {"$ref": reference.format(model=model)}
        return {"description": text, "content": {"application/json": {"schema": schema}}}

    refusals = {str(status): {"$ref": f"#/components/responses/Error{status}"} for status in (403, 429, 503)}
    signed_in, signed_out = describe("The session", "SignedIn"), describe("Nobody is signed in.", "SignedOut")

    def send(id: str, summary: str, body: str) -> dict[str, Any]:
        content = {"application/json": {"schema": {"$ref": reference.format(model=body)}}}
        wrong = describe("A field is wrong.", "AccountFieldErrors")
        return {
            "operationId": id,
            "summary": summary,
            "tags": ["accounts"],
            "security": [],
            "requestBody": {"required": True, "content": content},
            "responses": {"200": signed_in, "400": wrong, "409": {"description": "Signed in already."}} | refusals,
        }

    def use_session(id: str, summary: str, responses: dict[str, Any]) -> dict[str, Any]:
        common = {"tags": ["accounts"], "security": [{"app": []}]}
        gone = {"410": describe("The session has ended.", "SignedOut")}
        return common | {"operationId": id, "summary": summary, "responses": responses | gone | refusals}

    session = use_session("read_session", "Read the session", {"200": signed_in, "401": signed_out})
    ended = describe("The session has ended.", "SignedOut")
    return {
        "/_allauth/app/v1/auth/signup": {"post": send("sign_up", "Create an account and sign in", "SignUpBody")},
        "/_allauth/app/v1/auth/login": {"post": send("sign_in", "Sign in by email and password", "SignInBody")},
        SESSION_PATH: {"get": session, "delete": use_session("sign_out", "End the session", {"401": ended})},
    }
