"""The list of names as an arrangement of tests that are about something else."""

from __future__ import annotations

from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.handles import Handles
from halogen_conformance.outcomes import Blocked


def handles_of(client: Client) -> Handles:
    """The list. Raises Blocked when there is none: LIST-1 is where that is judged."""
    handles = client.names()
    if handles is None:
        raise Blocked("GET /halogen/handles was not answered with status 200 and JSON")
    return handles


def listed_names(client: Client) -> set[str]:
    """All listed names. Raises Blocked for a list whose shape cannot be read."""
    names = handles_of(client).names
    if names is None:
        raise Blocked("the list is JSON of an unknown shape: its names cannot be told apart")
    return set(names)
