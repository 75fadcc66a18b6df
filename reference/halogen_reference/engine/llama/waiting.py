"""How llama.cpp's threads wait for each other."""

from collections.abc import Mapping, MutableMapping

SPINS = 2000
"""Rounds a thread spins before it sleeps, some tens of microseconds.

A batch makes the threads wait for each other hundreds of times. Sleeping at once (``passive``)
costs a waking each time: 8 replies are decoded a sixth slower. The OpenMP library's own choice
spins for milliseconds and takes the processor from whoever is waited for as soon as anything else
runs on the machine; a prompt then takes many times as long."""

_CHOICES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")


def choose(environment: MutableMapping[str, str]) -> None:
    """Set :data:`SPINS` unless the user has chosen. Read once, when llama.cpp is loaded."""
    if not chosen(environment):
        environment[_CHOICES[0]] = str(SPINS)


def chosen(environment: Mapping[str, str]) -> dict[str, str]:
    """What of this an environment says."""
    return {name: environment[name] for name in _CHOICES if name in environment}
