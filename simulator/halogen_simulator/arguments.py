"""Arguments that fit a tool's JSON schema, chosen by a hash."""

from typing import Any

from halogen_simulator.words import WORDS

_DEPTH = 6


def fitting(schema: Any, digest: bytes, depth: int = 0) -> Any:
    """A value the schema accepts, as far as it is made of the usual keywords: types, properties,
    required, enum, const, items, bounds and lengths, anyOf, oneOf and local references."""
    return _Maker(digest, schema).value(schema, depth)


class _Maker:
    def __init__(self, digest: bytes, root: Any) -> None:
        self._digest, self._root = digest, root
        self._taken = 0

    def value(self, schema: Any, depth: int) -> Any:
        if not isinstance(schema, dict):
            return self._word()
        if "$ref" in schema and depth < _DEPTH:
            return self.value(self._resolved(schema["$ref"]), depth + 1)
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return schema["enum"][self._next() % len(schema["enum"])]
        for any_of in ("anyOf", "oneOf", "allOf"):
            if isinstance(schema.get(any_of), list) and schema[any_of]:
                return self.value(schema[any_of][0], depth + 1)
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            kind = kind[0] if kind else "string"
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                count = _bounded(1, schema.get("minItems"), schema.get("maxItems"))
                items = schema.get("items", {"type": "string"})
                return [self.value(items, depth + 1) for _ in range(min(count, 64))]
            case "integer":
                return _bounded(self._next() % 100, schema.get("minimum"), schema.get("maximum"))
            case "number":
                value = self._next() % 100 + 0.5
                return _bounded(value, schema.get("minimum"), schema.get("maximum"))
            case "boolean":
                return self._next() % 2 == 0
            case "null":
                return None
        return self._string(schema)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        required = schema.get("required")
        required = required if isinstance(required, list) else list(properties)
        names = [*properties, *(name for name in required if name not in properties)]
        wanted = [name for name in names if name in required or depth == 0]
        if depth >= _DEPTH:
            wanted = [name for name in wanted if name in required]
        return {name: self.value(properties.get(name, {}), depth + 1) for name in wanted}

    def _string(self, schema: dict[str, Any]) -> str:
        least = schema.get("minLength")
        text = self._word()
        while isinstance(least, int) and len(text) < least:
            text += self._word()
        most = schema.get("maxLength")
        return text[:most] if isinstance(most, int) else text

    def _resolved(self, reference: Any) -> Any:
        found = self._root
        for part in str(reference).removeprefix("#/").split("/"):
            found = found.get(part) if isinstance(found, dict) else None
        return found

    def _word(self) -> str:
        return WORDS[self._next() % len(WORDS)]

    def _next(self) -> int:
        at = self._taken % (len(self._digest) - 1)
        self._taken += 1
        return int.from_bytes(self._digest[at : at + 2])


def _bounded(value: Any, least: Any, most: Any) -> Any:
    if isinstance(least, int | float) and value < least:
        value = least
    if isinstance(most, int | float) and value > most:
        value = most
    return value
