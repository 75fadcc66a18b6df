"""How a test says what it is about: `@requirement`, `@needs`, `@x3`, `@hinted`."""

from __future__ import annotations

import pytest

from halogen_conformance.drivers import DRIVERS

_X3 = [
    pytest.param(route, streaming, id=f"{route}-stream" if streaming else route)
    for route in DRIVERS
    for streaming in (False, True)
]

x3 = pytest.mark.parametrize(("route", "streaming"), _X3)
"""Run on all three routes, streaming and not. The test's `driver` and `options` follow."""

hinted = pytest.mark.parametrize("hints", [False, True], ids=["no-hints", "hints"])
"""Run with and without the hint headers Claude Code sends only when told to; `main` follows."""


def requirement(*ids: str) -> pytest.MarkDecorator:
    """The requirements a test speaks about. Best is one: then a miss has one meaning."""
    return pytest.mark.requirement(*ids)


def needs(group: str) -> pytest.MarkDecorator:
    """The settings group the test's server runs with; without this mark it is `on`."""
    return pytest.mark.needs(group)
