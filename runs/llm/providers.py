"""Real models through pydantic-ai's direct requests: transport only, one request a question, raw arguments."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import httpx2
from anthropic import AsyncAnthropic
from django.conf import settings
from openai import AsyncOpenAI
from pydantic_ai import exceptions as faults
from pydantic_ai import messages as wire
from pydantic_ai.direct import model_request
from pydantic_ai.models import Model as WireModel
from pydantic_ai.models import ModelRequestParameters, infer_model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from runs.errors import ModelRefused, RateLimited, Transient
from runs.failures import retry_after, sent_at
from runs.llm.base import Message, Model, ModelRequest, ModelResponse, ToolCall, ToolSchema, Usage


@lru_cache(maxsize=64)
def provider(name: str) -> Model:
    """The model called "provider:name". Keys and addresses are read from the environment at each question."""
    kind, _, model = name.partition(":")
    if not model:
        raise ModelRefused(f"{name} names no model; write it as provider:name.")
    return Provider(kind=kind, model=model)


@dataclass(frozen=True)
class Provider:
    """A provider's model; its client is made for each question, with the client's own retries off."""

    kind: str
    model: str

    async def respond(self, request: ModelRequest) -> ModelResponse:
        """Ask once; errors are raised as those of `runs.errors` and never carry a key."""
        async with httpx2.AsyncClient(timeout=settings.MODEL_TIMEOUT) as http:
            try:
                answer = await model_request(
                    self._client(http),
                    _history(request),
                    model_settings=ModelSettings(timeout=settings.MODEL_TIMEOUT),
                    model_request_parameters=_parameters(request),
                )
            except Exception as error:
                raise _named(error, self) from error
        return _answer(answer)

    def _client(self, http: httpx2.AsyncClient) -> WireModel:
        maker = _CLIENTS.get(self.kind)
        return maker(self.model, http) if maker else infer_model(f"{self.kind}:{self.model}")


def _openai(model: str, http: httpx2.AsyncClient) -> WireModel:
    client = AsyncOpenAI(
        base_url=os.environ.get("OPENAI_BASE_URL") or None,
        api_key=_key("OPENAI_API_KEY"),
        max_retries=0,
        timeout=settings.MODEL_TIMEOUT,
        http_client=http,
    )
    return OpenAIChatModel(model, provider=OpenAIProvider(openai_client=client))


def _anthropic(model: str, http: httpx2.AsyncClient) -> WireModel:
    client = AsyncAnthropic(
        base_url=os.environ.get("ANTHROPIC_BASE_URL") or None,
        api_key=_key("ANTHROPIC_API_KEY"),
        max_retries=0,
        timeout=settings.MODEL_TIMEOUT,
        http_client=http,
    )
    return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client))


_CLIENTS: Mapping[str, Callable[[str, httpx2.AsyncClient], WireModel]] = {"openai": _openai, "anthropic": _anthropic}


KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")


def _key(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise ModelRefused(f"{name} is not set for the workers, so the model cannot be asked.", cause="permission")
    return value


def _parameters(request: ModelRequest) -> ModelRequestParameters:
    return ModelRequestParameters(
        function_tools=[_tool(each) for each in request.tools],
        allow_text_output=True,
        instruction_parts=[wire.InstructionPart(content=request.instructions)] if request.instructions else None,
    )


def _tool(schema: ToolSchema) -> ToolDefinition:
    return ToolDefinition(
        name=schema.name,
        description=schema.description,
        parameters_json_schema=dict(schema.parameters),
        strict=False,  # Else some providers get the schema rewritten, and the model sees another one than recorded.
    )


def _history(request: ModelRequest) -> list[wire.ModelMessage]:
    names = {call.id: _sendable(call.name) for message in request.messages for call in message.tool_calls}
    history: list[wire.ModelMessage] = []
    for message in request.messages:
        if message.role == "assistant":
            history.append(wire.ModelResponse(parts=_said(message)))
        else:
            part = _asked(message, names)
            last = history[-1] if history else None
            if isinstance(last, wire.ModelRequest):
                last.parts = [*last.parts, part]
            else:
                history.append(wire.ModelRequest(parts=[part]))
    return history


def _said(message: Message) -> list[wire.ModelResponsePart]:
    parts: list[wire.ModelResponsePart] = [wire.TextPart(content=message.text)] if message.text else []
    calls = message.tool_calls
    parts.extend(wire.ToolCallPart(_sendable(each.name), each.arguments, tool_call_id=each.id) for each in calls)
    return parts


def _sendable(name: str) -> str:
    """A tool's name in the letters that providers take back; a model may have made up others."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "_"


def _asked(message: Message, names: Mapping[str, str]) -> wire.ModelRequestPart:
    if message.role == "user":
        return wire.UserPromptPart(content=message.text)
    call = message.call_id or ""
    return wire.ToolReturnPart(tool_name=names.get(call, ""), content=message.text, tool_call_id=call)


def _answer(answer: wire.ModelResponse) -> ModelResponse:
    text = "".join(part.content for part in answer.parts if isinstance(part, wire.TextPart))
    calls = [_call(part) for part in answer.parts if isinstance(part, wire.ToolCallPart)]
    used = answer.usage
    told = bool(used.input_tokens or used.output_tokens)  # The library says zero where the provider said nothing.
    usage = Usage(input_tokens=used.input_tokens, output_tokens=used.output_tokens) if told else None
    return ModelResponse(text=text, tool_calls=calls, finish_reason=answer.finish_reason or "stop", usage=usage)


def _call(part: wire.ToolCallPart) -> ToolCall:
    """The raw text where the provider sent text; Anthropic sends an object, which is written once."""
    text = part.args if isinstance(part.args, str) else part.args_as_json_str()
    return ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=text)


def _named(error: Exception, model: Provider) -> Exception:
    """The same failure as one of ours; the provider's text is left out where it may quote a key."""
    for kinds, build in _FAULTS:
        if isinstance(error, kinds):
            return build(error, f"{model.kind}:{model.model}")
    return error


def _told(error: Exception) -> float | None:
    response = getattr(error.__cause__, "response", None)
    if response is None:
        return None
    return retry_after(response.headers.get("retry-after"), now=sent_at(response.headers, now=datetime.now(UTC)))


def _refused(text: str, cause: str = "invalid") -> Callable[[Exception, str], Exception]:
    return lambda _, name: ModelRefused(f"{name} {text}", cause=cause)


def _rejected(error: Exception, name: str) -> Exception:
    code = getattr(error, "provider_error_code", None) or getattr(error, "status_code", "")
    said = _without_keys(str(getattr(error, "message", "")))
    return ModelRefused(f"{name} will not answer this request ({code}): {said}"[:800])


def _without_keys(text: str) -> str:
    for name in KEYS:
        if value := os.environ.get(name):
            text = text.replace(value, "•••")
    return text


_FAULTS: tuple[tuple[Any, Callable[[Exception, str], Exception]], ...] = (
    (faults.ModelQuotaExceededError, _refused("refuses: the account's quota is used up.", "permission")),
    (faults.ModelRateLimitError, lambda error, name: RateLimited(f"{name} limits the rate.", retry_after=_told(error))),
    (faults.ModelAuthenticationError, _refused("refuses the credentials of the workers.", "permission")),
    (faults.ModelNotFoundError, _refused("is not known to its provider.")),
    (faults.ModelContextWindowExceededError, _refused("cannot read a conversation this long.")),
    (faults.ModelRequestRejectedError, _rejected),
    (faults.ModelTimeoutError, lambda _, name: TimeoutError(f"{name} did not answer in time.")),
    (faults.ModelConnectionError, lambda _, name: ConnectionError(f"{name} broke off the connection.")),
    (
        faults.ModelAPIError,
        lambda error, name: Transient(f"{name} answered with an error or unreadably.", retry_after=_told(error)),
    ),
    (faults.UnexpectedModelBehavior, lambda _, name: Transient(f"{name} answered unreadably.")),
    (faults.UserError, lambda error, name: ModelRefused(f"{name} cannot be asked: {error}")),
)
