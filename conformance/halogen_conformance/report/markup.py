"""HTML written so that text is escaped unless somebody says otherwise.

The report shows what a foreign server sent. Strings are text here and always escaped; only a
`Markup` made by `tag` or named explicitly goes in as it is.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

from halogen_conformance.visible import visible


class Markup(str):
    """HTML that is meant as HTML."""

    __slots__ = ()


Child = str | Markup | None


def escape(text: str) -> Markup:
    """The text as HTML, with invisible characters shown as escapes."""
    return text if isinstance(text, Markup) else Markup(html.escape(visible(text)))


def join(children: Iterable[Child]) -> Markup:
    """The children one after the other; None is left out."""
    return Markup("".join(escape(child) for child in children if child is not None))


def tag(name: str, /, *children: Child, **attributes: str | bool | None) -> Markup:
    """One element. `class_` is `class`, `data_x` is `data-x`; False and None leave one out."""
    parts = [name]
    for key, value in attributes.items():
        spelled = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(spelled)
        elif isinstance(value, str):
            parts.append(f'{spelled}="{escape(str(value))}"')
    return Markup(f"<{' '.join(parts)}>{join(children)}</{name}>")


def void(name: str, /, **attributes: str | bool | None) -> Markup:
    """An element without an end tag, such as `meta` or `input`."""
    return Markup(tag(name, **attributes).removesuffix(f"</{name}>"))


def prose(text: str) -> Markup:
    """A sentence of ours, in which `back quotes` mean code."""
    parts = text.split("`")
    return join(tag("code", part) if odd % 2 else part for odd, part in enumerate(parts))
