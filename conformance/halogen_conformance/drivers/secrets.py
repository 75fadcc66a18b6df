"""Secrets are hidden when an exchange is recorded, so that no report can leak them later."""

HIDDEN = "[hidden]"
SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "api-key", "cookie", "set-cookie"}
)


def hide_header(name: str, value: str) -> str:
    """The value as it may be written down; an auth scheme such as Bearer stays readable."""
    if name.lower() not in SECRET_HEADERS:
        return value
    scheme, space, _ = value.partition(" ")
    return f"{scheme} {HIDDEN}" if space and scheme.isalpha() else HIDDEN
