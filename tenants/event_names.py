"""The names of all events, as the contract lists them: what a webhook can be told."""

GROUPS: dict[str, tuple[str, ...]] = {
    "approval": (
        *("requested", "viewed", "reviewed", "approved", "rejected", "edited", "responded", "expired"),
        *("escalated", "reassigned", "cancelled", "superseded"),
    ),
    "run": (
        *("queued", "started", "waiting", "sleeping", "resumed", "recovered", "paused", "attention"),
        *("succeeded", "failed", "cancelled", "commented"),
    ),
    "step": (
        *("planned", "started", "progress", "retrying", "completed", "failed", "unknown", "settled"),
        "declined",
    ),
    "notification": ("sent", "failed"),
}

NAMES = tuple(f"{group}.{verb}" for group, verbs in GROUPS.items() for verb in verbs)
