"""The model a request names."""

from collections.abc import Callable

from halogen_reference.dialects.fields import Fields

ModelCheck = Callable[[str | None], str]
"""Called with the model a request names, None where it names none; returns the name the answer
repeats. Raises RequestError 404 when there is no such model."""


def read_model(fields: Fields, check: ModelCheck | None) -> str:
    """The name the answer repeats. A server of one model can do without being told."""
    name = fields.text("model")
    if name == "":
        raise fields.fail("model", "must not be empty.")
    return check(name) if check else name or ""
