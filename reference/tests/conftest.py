"""What all tests of the reference share: how Hypothesis runs."""

from hypothesis import HealthCheck, settings

# How long an example takes says more about a shared machine than about the code.
settings.register_profile(
    "reference",
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("reference")
