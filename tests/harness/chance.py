"""How hypothesis plays here: a slow machine is no fault of the code, so no test fails for its time."""

from hypothesis import HealthCheck, settings

settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")
