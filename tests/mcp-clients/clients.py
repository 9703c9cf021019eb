"""The clients of the protocol that use haft, each with the methods of the Python SDK's `Client`."""

import itertools
import json
import os
import subprocess
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from fastmcp import Client as FastClient
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

NODE = Path(os.environ.get("NODE_MODULES", "node_modules"))
SECONDS = 60


class Pipes:
    """A server that the client starts. What it logs goes to a file."""

    def __init__(self, words, environment, log):
        self.words, self.environment, self.log = words, environment, log


class Http:
    """A server that runs."""

    def __init__(self, url):
        self.url = url


@asynccontextmanager
async def python_sdk(server, mode, answer):
    """The official Python SDK."""
    with open(server.log if isinstance(server, Pipes) else os.devnull, "a") as log:
        if isinstance(server, Pipes):
            words = StdioServerParameters(command=server.words[0], args=server.words[1:], env=server.environment)
            transport = stdio_client(words, errlog=log)
        else:
            transport = streamable_http_client(server.url)
        options = {"elicitation_callback": answer} if answer else {}
        async with Client(transport, read_timeout_seconds=SECONDS, cache=None, mode=mode, **options) as client:
            yield client


class OfFastMcp:
    """FastMCP's client, of which the methods that return whole results are used."""

    def __init__(self, client):
        self.client = client
        self.protocol_version, self.instructions = client.protocol_version, client.instructions
        self.list_tools, self.list_resources = client.list_tools_mcp, client.list_resources_mcp
        self.list_resource_templates, self.read_resource = client.list_resource_templates_mcp, client.read_resource_mcp

    async def call_tool(self, tool, arguments, progress_callback=None):
        return await self.client.call_tool_mcp(tool, arguments, progress_handler=progress_callback)


@asynccontextmanager
async def fastmcp(server, mode, answer):
    """The client of FastMCP."""
    if isinstance(server, Pipes):
        command, *more = server.words
        transport = StdioTransport(command, more, env=server.environment, keep_alive=False, log_file=Path(server.log))
    else:
        transport = StreamableHttpTransport(server.url)
    options = {"elicitation_handler": lambda _, __, question, context: answer(context, question)} if answer else {}
    async with FastClient(transport, timeout=SECONDS, mode=mode, **options) as client:
        yield OfFastMcp(client)


class OfTypeScript:
    """A client in Node (`client.mjs`), told what to do in lines of JSON."""

    def __init__(self, process, answer):
        self.process, self.answer = process, answer
        self.numbers = itertools.count()
        self.ends, self.results, self.progress = {}, {}, {}
        self.ready = anyio.Event()

    async def listen(self):
        rest = b""
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            while True:
                *lines, rest = (rest + await self.process.stdout.receive(1 << 20)).split(b"\n")
                for line in lines:
                    await self.take(json.loads(line))
        self.ready.set()
        for end in self.ends.values():
            end.set()

    async def take(self, line):
        if "ready" in line:
            self.protocol_version, self.instructions = line["ready"]["version"], line["ready"]["instructions"]
            self.ready.set()
        elif "question" in line:
            question = types.ElicitRequestFormParams.model_validate(line["params"])
            reply = await self.answer(None, question)
            reply = reply.model_dump(mode="json", by_alias=True, exclude_none=True)
            await self.send({"answer": line["question"], "result": reply})
        elif "progress" in line:
            told = line["progress"]
            if callback := self.progress.get(line["id"]):
                await callback(told["progress"], told.get("total"), told.get("message"))
        elif line["id"] in self.ends:
            self.results[line["id"]] = line
            self.ends[line["id"]].set()

    async def send(self, line):
        await self.process.stdin.send(json.dumps(line).encode() + b"\n")

    async def ask(self, form, method, params=None, progress=None):
        number = next(self.numbers)
        self.ends[number], self.progress[number] = anyio.Event(), progress
        await self.send({"id": number, "method": method, "params": params})
        try:
            await self.ends[number].wait()
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self.send({"cancel": number})
            raise
        finally:
            del self.ends[number], self.progress[number]
        line = self.results.pop(number, {"error": {"code": None, "message": "the client has ended"}})
        if "error" in line:
            raise MCPError(line["error"]["code"] or 0, line["error"]["message"])
        return form.model_validate(line["result"])

    async def list_tools(self):
        return await self.ask(types.ListToolsResult, "listTools")

    async def list_resources(self):
        return await self.ask(types.ListResourcesResult, "listResources")

    async def list_resource_templates(self):
        return await self.ask(types.ListResourceTemplatesResult, "listResourceTemplates")

    async def read_resource(self, uri):
        return await self.ask(types.ReadResourceResult, "readResource", {"uri": uri})

    async def call_tool(self, tool, arguments, progress_callback=None):
        params = {"name": tool, "arguments": arguments}
        return await self.ask(types.CallToolResult, "callTool", params, progress_callback)


def typescript(package):
    @asynccontextmanager
    async def client(server, mode, answer):
        to = {"words": server.words, "env": server.environment} if isinstance(server, Pipes) else {"url": server.url}
        about = json.dumps({"package": package, "mode": mode, "asks": bool(answer), **to})
        words = [str(NODE / ".bin" / "node"), str(Path(__file__).with_name("client.mjs")), str(NODE), about]
        with open(server.log if isinstance(server, Pipes) else os.devnull, "a") as log:
            async with await anyio.open_process(words, stdin=subprocess.PIPE, stderr=log) as process:
                client = OfTypeScript(process, answer)
                async with anyio.create_task_group() as group:
                    group.start_soon(client.listen)
                    with anyio.fail_after(SECONDS):
                        await client.ready.wait()
                    try:
                        yield client
                    finally:
                        with anyio.CancelScope(shield=True):
                            await process.stdin.aclose()
                            await process.wait()
                        group.cancel_scope.cancel()

    return client


# Each with the revisions that it speaks, and what it calls the way to them.
BOTH = {"2025-11-25": "legacy", "2026-07-28": "auto"}
CLIENTS = {
    "python": (python_sdk, BOTH),
    "fastmcp": (fastmcp, BOTH),
    "typescript": (typescript("client"), BOTH),
    "typescript-1": (typescript("sdk"), {"2025-11-25": "legacy"}),
}
