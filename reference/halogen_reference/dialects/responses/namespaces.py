"""Functions that a client groups under a namespace.

The model sees one flat list of tools, so such a function gets a name made of both. What the model
calls is taken apart again on the way out: Codex does not find a call whose namespace is missing.
"""

from collections.abc import Mapping

Namespaces = Mapping[str, tuple[str, str]]
"""Name the model sees -> the namespace and the name the client knows."""


def flat_name(namespace: str | None, name: str) -> str:
    """The name the model sees."""
    return f"{namespace}__{name}" if namespace else name


def client_name(flat: str, namespaces: Namespaces) -> dict[str, object]:
    """The fields of a function_call that name its function."""
    if flat not in namespaces:
        return {"name": flat}
    namespace, name = namespaces[flat]
    return {"name": name, "namespace": namespace}
