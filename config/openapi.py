"""Completes the generated OpenAPI document: every error is a problem, every POST takes a repeating key."""

from typing import Any

from config import operations

PREFIX = "/api/v1"
ABOUT = (
    "Start runs of agents, read what they did, and answer what they ask. "
    "Every call carries a key, `Authorization: Bearer …`, which acts for one member of one organisation, within its "
    "scopes. Every error is a problem, `application/problem+json`, with a `code` that stays the same."
)
STATUSES = {
    "400": "What was sent cannot be read",
    "401": "No valid key",
    "403": "Not allowed",
    "404": "Not there, or not yours",
    "405": "Another method",
    "409": "The standing state does not allow it",
    "413": "Too large",
    "422": "What was sent cannot be used",
    "503": "A service behind this one does not answer",
}
PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "A sentence for people"},
        "code": {"type": "string", "description": "Stable, for programs"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
        "standing": {
            "type": "object",
            "properties": {"status": {"type": "string"}, "by": {}, "at": {"type": "string"}},
        },
    },
}
REPEATING_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    "description": "The same key and body again get the first answer, for 24 hours",
}


def completed(document: Any) -> Any:
    """The document with the schema of a problem, its answers everywhere, and the repeating key."""
    document.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for address, path in document["paths"].items():
        for method, operation in path.items():
            operation["description"] += f"\n\n{operations.told(method, address.removeprefix(PREFIX))}"
            for status, description in STATUSES.items():
                operation["responses"][status] = {"description": description, "content": content}
            if method == "post":
                operation.setdefault("parameters", []).append(REPEATING_KEY)
    return document
