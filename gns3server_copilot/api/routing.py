"""How our routes answer when something goes wrong: always JSON with a plain `message` (docs/developer/http-api.md)."""

from __future__ import annotations

import copy
import logging
import re
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from fastapi.utils import generate_unique_id
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from gns3server_copilot.errors import CopilotError, plain

log = logging.getLogger(__name__)

NOT_JSON = "the body is not valid JSON"
#: Above all for curl, which sends what it is given as a form when nothing is said.
NO_OBJECT = "the body has to be a JSON object, sent with the header Content-Type: application/json"
#: FastAPI's words for a body that is not even text or is nested too deeply; it answers 400.
UNREADABLE_BODY = "There was an error parsing the body"
DATABASE_FAILED = "gns3-server's database is busy or cannot be used. Try again in a moment; the server's log says more."
#: How pydantic names the values of an enumeration.
ENUM_MEMBER = re.compile(r"<[\w.]+: ('[^']*')>")

#: What the routes of chats answer with when something goes wrong, for `/docs`; see docs/developer/http-api.md.
_REFUSALS = {
    400: "It cannot be done as asked, for example without a configuration of a language model.",
    401: "Not logged in.",
    403: "The privilege Project.Audit is missing, a group's policy forbids it, or the project is not open.",
    404: "There is no such thing, or it is somebody else's.",
    409: "A turn is running in this conversation.",
    413: "The message is too long.",
    422: "The request is malformed; `detail` says where.",
    429: "Too many turns are running.",
    503: "The copilot or the project's chat database cannot be used; the message says what to put right.",
}
_PLAIN_MESSAGE = {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
_ANSWER = {"application/json": {"schema": _PLAIN_MESSAGE}}


def refusals(*also: int) -> dict[int | str, dict[str, Any]]:
    """Give what `/docs` says about the errors of a chat route: those that every one has, and `also` these."""
    # not by a model: FastAPI would build a field for each, which costs the start as much as the routes do
    return {
        status: {"description": _REFUSALS[status], "content": _ANSWER} for status in (401, 403, 404, 422, 503, *also)
    }


#: Where chats are served, and where the GNS3 web UI looks for them; the handlers are the same.
CHATS = "/v3/projects/{project_id}/chat"
WEB_UI_CHATS = "/v3/copilot/projects/{project_id}/chat"

OUR_PATHS = re.compile(
    r"/v3/copilot(/|$)|/v3/projects/[^/]+/chat(/|$)|/v3/access/(users|groups)/[^/]+/(llm-model-configs|llm-policy)(/|$)"
)


class CopilotRoute(APIRoute):
    """A route whose every failure is one of our answers.

    gns3-server's own handler for validation errors puts the submitted body, API keys included, into the answer and
    the log; and an unhandled exception would be answered in text/plain.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give the handler that FastAPI calls."""
        handle = super().get_route_handler()

        async def handle_contained(request: Request) -> Response:
            try:
                return await handle(request)
            except CopilotError as error:
                return error_answer(error)
            except RequestValidationError as error:
                return validation_answer(error)
            except HTTPException as error:
                if error.detail == UNREADABLE_BODY:
                    return JSONResponse({"message": f"body: {NOT_JSON}"}, status_code=422)
                return JSONResponse(
                    {"message": plain(str(error.detail))}, status_code=error.status_code, headers=error.headers
                )
            except OperationalError as error:  # locked for 20 s by another program, a full disk
                log.error("gns3-server's database failed in %s %s: %s", request.method, request.url.path, error.orig)
                return JSONResponse({"message": DATABASE_FAILED}, status_code=503)
            except Exception:
                log.exception("Unexpected failure in %s %s", request.method, request.url.path)
                return JSONResponse(
                    {"message": "The copilot failed unexpectedly. The server's log has the details."}, status_code=500
                )

        return handle_contained


def error_answer(error: CopilotError) -> JSONResponse:
    """Answer with an error's own status and sentence."""
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
    return JSONResponse({"message": error.message}, status_code=error.status, headers=headers)


def validation_answer(error: RequestValidationError) -> JSONResponse:
    """Answer 422 with every wrong field and its reason, and nothing of what was submitted."""
    detail = [
        {"loc": [plain(str(part)) for part in one["loc"]], "msg": _reason(one), "type": one["type"]}
        for one in error.errors()
    ]
    message = "; ".join(f"{_field(one)}: {one['msg']}" for one in detail)
    return JSONResponse({"message": plain(message), "detail": detail}, status_code=422)


def _field(one: dict[str, Any]) -> str:
    # "body", "query" and "path" say where FastAPI looked, which is of no use to a person; neither is a position
    loc = one["loc"][:1] if one["type"] == "json_invalid" else one["loc"][1:]
    return ".".join(loc) or str(one["loc"][0])


def _reason(one: dict[str, Any]) -> str:
    if one["type"] == "json_invalid":
        return NOT_JSON
    if one["type"] == "model_attributes_type" and len(one["loc"]) == 1:
        return NO_OBJECT
    return ENUM_MEMBER.sub(r"\1", str(one["msg"]).removeprefix("Value error, "))


def at_web_ui_prefix(route: APIRoute) -> APIRoute:
    """Give the twin of a chat route at the web UI's prefix. Building it anew would take as long as the first did."""
    twin = copy.copy(route)
    twin.path = WEB_UI_CHATS + route.path.removeprefix(CHATS)
    twin.path_regex, twin.path_format, twin.param_convertors = compile_path(twin.path)
    twin.unique_id = generate_unique_id(twin)
    return twin


def answer_unknown_paths(app: FastAPI) -> None:
    """Give unknown paths and methods under our prefixes our kind of answer; all others keep the host's.

    A catch-all route would turn 405 into 404 and stop the redirects of trailing slashes.
    """
    host_handler: Any = app.exception_handlers[HTTPException]

    async def handler(request: Request, error: HTTPException) -> Response:
        if not OUR_PATHS.match(request.url.path):
            answer: Response = await host_handler(request, error)
            return answer
        if error.status_code == 404 and b"%2f" in request.scope.get("raw_path", b"").lower():
            # an id with a slash in it never comes to the check of ids, since it fits no route
            return JSONResponse({"message": "The path holds an id with a slash in it, which no id has."}, 422)
        message = {404: "There is nothing at this path.", 405: f"{request.method} is not possible here."}.get(
            error.status_code, str(error.detail)
        )
        return JSONResponse({"message": message}, status_code=error.status_code, headers=error.headers)

    app.add_exception_handler(HTTPException, handler)  # type: ignore[arg-type]
