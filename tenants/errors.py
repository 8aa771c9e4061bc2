"""What the ground floor raises when its caller is wrong. None of these is shown to a person."""


class NoTenant(RuntimeError):
    """A tenant table was asked outside `tenants.scope.scope`."""


class NoSubject(RuntimeError):
    """An event was written without `tenants.locks.hold` on its subject."""


class TwoSubjects(RuntimeError):
    """One transaction asked for the locks of two subjects; it may hold one."""
