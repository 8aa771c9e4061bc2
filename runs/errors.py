"""What a tool or a model raises to say how a call ended; the name decides what happens next."""


class CallError(Exception):
    """The root of every error that tools and models raise on purpose."""


class Transient(CallError):
    """Nothing happened and the same call may work later. It is tried again with a growing pause.

    `retry_after` is in seconds, where the far side named a time.
    """

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message or "The service cannot answer at the moment.")
        self.retry_after = retry_after


class RateLimited(CallError):
    """Nothing happened; the far side asks to wait.

    `retry_after` is in seconds. Without it the usual growing pause applies.
    """

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message or "The service asks to wait before the next call.")
        self.retry_after = retry_after


class InvalidArguments(CallError):
    """Nothing happened and never will with these arguments. The model is told and may try others."""


class PermissionRefused(CallError):
    """Nothing happened because the credentials do not allow it. A person is asked to put that right."""


class OutcomeUnknown(CallError):
    """The call may or may not have happened, and the tool cannot say which."""


class ModelRefused(CallError):
    """The model's service will never answer this request: a wrong key, an unknown model, a request too long.

    `cause` is `permission` or `invalid`; the run fails at once with this message.
    """

    def __init__(self, message: str, *, cause: str = "invalid") -> None:
        super().__init__(message)
        self.cause = cause


class NotRegistered(LookupError):
    """This process knows no such agent version."""


class NotLoaded(Exception):
    """A module of AGENT_MODULES cannot be imported; the sentence is for whoever wrote it."""
