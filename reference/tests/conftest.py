"""What all tests of the reference share: how Hypothesis runs, and which test runs where."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import matrix

# How long an example takes says more about a shared machine than about the code.
settings.register_profile(
    "reference",
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("reference")

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the matrix leaves out. Tests of other parts come by here, too."""
    chosen: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        (chosen if _runs(item) else left).append(item)
    items[:] = chosen
    config.hook.pytest_deselected(items=left)


def _runs(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function) or not item.path.is_relative_to(HERE):
        return True
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return matrix.runs(item.path.parent.name, item.name, parameters)
