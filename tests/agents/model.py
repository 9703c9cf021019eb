"""A model on loopback that follows a script, in the wire formats that the agents expect.

It speaks Anthropic's messages, OpenAI's responses and Gemini's generateContent. Each turn makes the next call of the
script: which one that is follows from the number of results that the conversation holds, so a request that is sent
twice gets the same answer twice. A request that offers no tools is about something else (a title, a summary) and gets a
word. A conversation that does not hold the prompt of the session is that of a sub-agent, and has a script of its own.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROMPT = "Do what the script says."
DONE = "That is all."
# What a sub-agent of Gemini CLI calls when it is done.
LAST_CALL = "complete_task"


class Call:
    """One call of the script: the agent's name for the tool, and the arguments (a text for a free-form tool).

    Arguments that depend on the result before are a function of that result.
    """

    def __init__(self, tool, arguments):
        self.tool = tool
        self.arguments = arguments

    def after(self, result):
        return Call(self.tool, self.arguments(result)) if callable(self.arguments) else self


class ScriptedModel:
    """Use it as `with ScriptedModel(calls) as model:`; it listens on `model.port`."""

    def __init__(self, calls, calls_of_sub_agent=()):
        self.calls = calls
        self.calls_of_sub_agent = calls_of_sub_agent
        self.results = []
        self.results_of_sub_agent = []
        self.offered = set()
        self.strange = []
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def next_call(self, wire, body):
        """The call of this turn, or None where the script is over or the request offers no tools."""
        offered = set(wire.offered(body))
        if not offered:
            return None
        results = wire.results(body)
        is_main = PROMPT in json.dumps(body)
        calls = self.calls if is_main else self.calls_of_sub_agent
        with self.lock:
            if is_main:
                self.offered |= offered
            kept = self.results if is_main else self.results_of_sub_agent
            if len(results) > len(kept):
                kept[:] = results
        if len(results) >= len(calls):
            return Call(LAST_CALL, {"result": {"response": DONE}}) if LAST_CALL in offered else None
        return calls[len(results)].after(results[-1] if results else "")


class Messages:
    """Anthropic's messages."""

    @staticmethod
    def offered(body):
        return [tool["name"] for tool in body.get("tools") or []]

    @staticmethod
    def results(body):
        blocks = [
            block
            for message in body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
        ]
        return [text_of(block.get("content")) for block in blocks if block["type"] == "tool_result"]

    @staticmethod
    def answer(body, call, turn):
        if call:
            start = {"type": "tool_use", "id": f"toolu_{turn}", "name": call.tool, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
            whole = {**start, "input": call.arguments}
        else:
            start = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": DONE}
            whole = {"type": "text", "text": DONE}
        reason = "tool_use" if call else "end_turn"
        usage = {"input_tokens": 10, "output_tokens": 10}
        message = {
            "id": f"msg_{turn}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "scripted"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        if not body.get("stream"):
            return {**message, "content": [whole], "stop_reason": reason}
        return [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]


class Responses:
    """OpenAI's responses. Tools may be offered in groups, and in the conversation instead of beside it."""

    RESULTS = ("function_call_output", "custom_tool_call_output")

    @staticmethod
    def offered(body):
        given = body["input"] if isinstance(body["input"], list) else []
        later = [tool for item in given if item.get("type") == "additional_tools" for tool in item["tools"]]
        names = []
        for tool in (body.get("tools") or []) + later:
            group = tool.get("name", tool["type"])
            inner = [f"{group}/{inner['name']}" for inner in tool.get("tools") or []]
            names.extend(inner or [group])
        return names

    @staticmethod
    def results(body):
        given = body["input"] if isinstance(body["input"], list) else []
        return [text_of(item.get("output")) for item in given if item.get("type") in Responses.RESULTS]

    @staticmethod
    def answer(body, call, turn):
        if not call:
            words = {"type": "output_text", "text": DONE, "annotations": []}
            item = {"type": "message", "id": f"msg_{turn}", "role": "assistant", "content": [words]}
        elif isinstance(call.arguments, str):
            item = {"type": "custom_tool_call", "name": call.tool, "input": call.arguments}
        else:
            group, _, name = call.tool.rpartition("/")
            item = {"type": "function_call", "name": name, "arguments": json.dumps(call.arguments)}
            if group:
                item["namespace"] = group
        if call:
            item |= {"id": f"item_{turn}", "call_id": f"call_{turn}"}
        item["status"] = "completed"
        response = {"id": f"resp_{turn}", "object": "response", "model": body.get("model"), "status": "completed"}
        response["output"] = [item]
        response["usage"] = {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 20,
        }
        if not body.get("stream"):
            return response
        begun = {**response, "status": "in_progress", "output": []}
        events = [
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
        return [{**event, "sequence_number": number} for number, event in enumerate(events)]


class GenerateContent:
    """Gemini's generateContent."""

    @staticmethod
    def offered(body):
        groups = [tool.get("functionDeclarations") or [] for tool in body.get("tools") or []]
        return [function["name"] for group in groups for function in group]

    @staticmethod
    def results(body):
        parts = [part for content in body["contents"] for part in content.get("parts") or []]
        return [text_of(part["functionResponse"].get("response")) for part in parts if "functionResponse" in part]

    @staticmethod
    def answer(body, call, turn):
        settings = body.get("generationConfig") or {}
        schema = settings.get("responseJsonSchema") or settings.get("responseSchema")
        words = json.dumps(empty(schema)) if schema else DONE
        part = {"functionCall": {"name": call.tool, "args": call.arguments}} if call else {"text": words}
        reply = {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
            "modelVersion": "scripted",
            "responseId": f"resp_{turn}",
        }
        return [reply]


def empty(schema):
    """The least that fits a schema: an agent that asks for JSON waits until it gets some."""
    kind = str(schema.get("type", "")).lower()
    if kind == "object":
        return {name: empty(inner) for name, inner in (schema.get("properties") or {}).items()}
    if "enum" in schema:
        return schema["enum"][0]
    return {"array": [], "number": 0, "integer": 0, "boolean": False}.get(kind, "")


def text_of(value):
    """All text in a result, whatever it is wrapped in."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(text_of(item) for item in value)
    if isinstance(value, dict):
        return "\n".join(text_of(item) for key, item in value.items() if key != "type")
    return "" if value is None else str(value)


def handler_of(model):
    """The handler of requests to one model."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_HEAD(self):
            self.reply(200, b"")

        def do_GET(self):
            self.reply(200, b'{"data": [], "models": [], "object": "list"}')

        def do_POST(self):
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.partition("?")[0]
            if path.endswith(("count_tokens", ":countTokens")):
                return self.reply(200, b'{"input_tokens": 10, "totalTokens": 10}')
            wire = wire_of(path)
            if wire is None:
                model.strange.append(path)
                return self.reply(404, b'{"error": {"message": "the scripted model has no such address"}}')
            body = json.loads(raw)
            call = model.next_call(wire, body)
            answer = wire.answer(body, call, len(wire.results(body)))
            if path.endswith(":generateContent"):
                answer = answer[0]
            if isinstance(answer, dict):
                return self.reply(200, json.dumps(answer).encode())
            lines = [
                (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n"
                for event in answer
            ]
            return self.reply(200, "".join(lines).encode(), "text/event-stream")

        def reply(self, status, body, kind="application/json"):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    return Handler


def wire_of(path):
    if path.endswith("/messages"):
        return Messages
    if path.endswith("/responses"):
        return Responses
    if path.endswith((":streamGenerateContent", ":generateContent")):
        return GenerateContent
    return None
