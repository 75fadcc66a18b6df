"""HTML and SVG in which all text is escaped unless it is markup itself."""

import html
import unicodedata
from collections.abc import Iterable


class Markup(str):
    """Text that is meant as markup."""

    __slots__ = ()


Child = str | Markup | None

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str) -> str:
    """What a server sent, with everything invisible shown as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char
        if char in "\n\t" or unicodedata.category(char) not in _HIDDEN
        else char.encode("unicode_escape", "backslashreplace").decode("ascii")
        for char in text
    )


def escape(text: str) -> Markup:
    """The text as markup."""
    return text if isinstance(text, Markup) else Markup(html.escape(visible(text)))


def join(children: Iterable[Child]) -> Markup:
    """The children one after the other; None is left out."""
    return Markup("".join(escape(child) for child in children if child is not None))


def tag(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """One element. ``class_`` is ``class``, ``stroke_width`` is ``stroke-width``; False and None
    leave an attribute out. Numbers are written with a tenth at most."""
    parts = [name]
    for key, value in attributes.items():
        spelled = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(spelled)
        elif isinstance(value, str):
            parts.append(f'{spelled}="{escape(value)}"')
        elif value is not None and value is not False:
            parts.append(f'{spelled}="{round(value, 1):g}"')
    return Markup(f"<{' '.join(parts)}>{join(children)}</{name}>")


def void(name: str, /, **attributes: str | float | bool | None) -> Markup:
    """An element without an end tag, such as ``meta``."""
    return Markup(tag(name, **attributes).removesuffix(f"</{name}>"))
