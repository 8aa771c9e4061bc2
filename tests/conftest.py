"""Every test's ground: see `tests/harness`."""

pytest_plugins = [
    "tests.harness.chance",
    "tests.harness.services",
    "tests.harness.database",
    "tests.cast.people",
    "tests.cast.requests",
    "tests.cast.journal",
    "tests.cast.plays",
    "tests.cast.run_pages",
    "tests.harness.workers",
    "tests.harness.bucket",
    "tests.harness.provider",
    "tests.harness.live",
    "tests.harness.browser",
    "tests.harness.outside",
]
