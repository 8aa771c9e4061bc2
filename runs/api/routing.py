"""The one router of this floor: two routers with one path would hide each other's methods."""

from ninja import Router

router = Router(tags=["runs"])
