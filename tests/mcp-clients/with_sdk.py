"""haft as a server, used through libraries for clients in both eras of the protocol, over pipes and over HTTP.

Usage: with_sdk.py HAFT [CLIENT…]   python, fastmcp, typescript, typescript-1; without one: all of them.

The client chooses the era: `legacy` shakes hands as of 2025-11-25, `auto` asks `server/discover` first and stays
with 2026-07-28 when it is answered.
"""

import itertools
import subprocess
import sys
import time
from contextlib import asynccontextmanager

import anyio
from mcp import MCPError
from mcp.types import ElicitResult

from clients import CLIENTS, Http, Pipes
from report import Report
from scene import SOON_SECONDS, Scene, wait_until

NATIVE_TOOLS = {"read_file", "write_file", "edit_file", "list_dir", "glob", "grep", "bash"}
INVALID_PARAMS = -32602


@asynccontextmanager
async def over_pipes(scene, flags):
    """A server of its own, which ends with its client. What it logs goes to the scene's folder."""
    yield Pipes(scene.server(*flags), scene.environment, scene.base / "log")


@asynccontextmanager
async def over_http(scene, flags):
    """A server of its own, which is told to end when its client is gone."""
    words = scene.server(*flags, "--http", "127.0.0.1:0")
    with subprocess.Popen(words, env=scene.environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            yield Http(await anyio.to_thread.run_sync(lambda: server.stderr.readline().split()[-1]))
        finally:
            server.terminate()


TRANSPORTS = {"pipes": over_pipes, "HTTP": over_http}


@asynccontextmanager
async def connected(scene, era, *flags, mode=None, answer=None):
    """A client of that era with a server of its own."""
    client_of, modes = CLIENTS[scene.client]
    async with TRANSPORTS[scene.transport](scene, flags) as server:
        async with client_of(server, mode or modes[era], answer) as client:
            assert client.protocol_version == era, f"the era is {client.protocol_version}"
            yield client


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def succeed(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, f"{tool} failed: {text_of(result)}"
    return result


async def list_tools(scene, era):
    async with connected(scene, era) as client:
        tools = (await client.list_tools()).tools
        again = (await client.list_tools()).tools
        assert client.instructions, "no instructions"
    async with connected(scene, era) as client:
        elsewhere = (await client.list_tools()).tools
    assert tools == again == elsewhere, "the list is not always the same"
    named = {tool.name: tool for tool in tools}
    assert NATIVE_TOOLS <= set(named), f"missing: {NATIVE_TOOLS - set(named)}"
    for tool in tools:
        assert tool.description and tool.title and tool.annotations, f"{tool.name} lacks words"
        assert tool.input_schema["type"] == "object", f"{tool.name}: {tool.input_schema}"
    assert named["read_file"].annotations.read_only_hint is True, "read_file is not told to be reading only"
    assert not named["bash"].annotations.read_only_hint, "bash is told to be reading only"
    return f"{len(tools)} tools"


async def pinned_version(scene, era):
    """A client that knows the version already asks nothing before its first request."""
    async with connected(scene.file("a.txt", "alpha\n"), era, mode=era) as client:
        assert "alpha" in text_of(await succeed(client, "read_file", path="a.txt"))


async def read(scene, era):
    scene.file("src/notes.txt", "first\nsecond\n")
    async with connected(scene, era) as client:
        for _ in range(2):
            assert "second" in text_of(await succeed(client, "read_file", path="src/notes.txt"))
        missing = await client.call_tool("read_file", {"path": "nowhere.txt"})
        assert missing.is_error and "nowhere.txt" in text_of(missing), text_of(missing)
        outside = await client.call_tool("read_file", {"path": "../home/secret"})
        assert outside.is_error and "outside" in text_of(outside), text_of(outside)


async def wrong_requests(scene, era):
    async with connected(scene, era) as client:
        try:
            await client.call_tool("no_such_tool", {})
            raise AssertionError("an unknown tool is a result")
        except MCPError as error:
            assert error.code == INVALID_PARAMS, error
        wrong = await client.call_tool("read_file", {"path": ["not", "a", "path"]})
        assert wrong.is_error and "path" in text_of(wrong), text_of(wrong)


async def write(scene, era):
    async with connected(scene, era, "--yes") as client:
        await succeed(client, "write_file", path="new/made.txt", content="made\n")
    assert scene.read("new/made.txt") == "made\n"
    log = scene.haft("log").stdout
    assert "made.txt" in log, f"haft log does not know it: {log}"


async def grep(scene, era):
    scene.file("a.rs", "fn alpha() {}\n").file("b.rs", "fn beta() {}\n")
    async with connected(scene, era) as client:
        found = text_of(await succeed(client, "grep", pattern="fn be"))
    assert "b.rs" in found and "a.rs" not in found, found


async def progress(scene, era):
    told = []

    async def note(value, total, message):
        told.append((value, message or ""))

    async with connected(scene, era, "--yes") as client:
        command = "for i in 1 2 3 4 5 6; do echo line $i; sleep 0.25; done"
        result = await client.call_tool("bash", {"command": command}, progress_callback=note)
        during = list(told)
        await succeed(client, "list_dir")
    assert not result.is_error and "line 6" in text_of(result), text_of(result)
    values = [value for value, _ in during]
    assert len(values) >= 3, f"told {len(values)} times"
    assert values == sorted(set(values)), f"not growing: {values}"
    assert any("line 2" in message for _, message in during), during
    assert told == during, "told something after the end"
    return f"{len(values)} times"


async def cancel(scene, era):
    """The command has a child in the background and one that ignores the polite signal."""
    mark = f"{time.time_ns() % 10**9}"
    command = f"(trap '' TERM INT; sleep {mark}1 & sleep {mark}2; sleep {mark}3) & setsid sleep {mark}4 & wait"
    async with connected(scene, era, "--yes") as client:

        async def when_running(scope):
            while len(scene.running(f"sleep {mark}")) < 3:
                await anyio.sleep(0.01)
            scope.cancel()

        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                group.start_soon(when_running, group.cancel_scope)
                await client.call_tool("bash", {"command": command})
        began = time.monotonic()
        ended = await anyio.to_thread.run_sync(lambda: wait_until(lambda: not scene.running(f"sleep {mark}"), 5))
        took = time.monotonic() - began
        assert ended, f"still there: {scene.running(f'sleep {mark}')}"
        assert took < 2 * SOON_SECONDS, f"took {took:.1f} s"
        await succeed(client, "list_dir")
    return f"gone after {took * 1e3:.0f} ms"


async def forty_at_once(scene, era):
    for number in range(40):
        scene.file(f"{number}.txt", f"content of {number}\n")
    results = {}

    async def one(client, number):
        if number % 4 == 0:
            results[number] = text_of(await succeed(client, "bash", command=f"cat {number}.txt"))
        elif number % 4 == 1:
            results[number] = text_of(await succeed(client, "grep", pattern=f"content of {number}$"))
        else:
            results[number] = text_of(await succeed(client, "read_file", path=f"{number}.txt"))

    async with connected(scene, era, "--yes") as client:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for number in range(40):
                    group.start_soon(one, client, number)
    wrong = [number for number in range(40) if f"content of {number}" not in results[number]]
    assert not wrong, f"wrong answers for {wrong}"


async def slow_beside_fast(scene, era):
    """A call that takes long does not block others."""
    async with connected(scene.file("a.txt", "alpha\n"), era, "--yes") as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "bash", {"command": "sleep 60"})
            began = time.monotonic()
            for _ in range(20):
                await succeed(client, "read_file", path="a.txt")
            took = time.monotonic() - began
            group.cancel_scope.cancel()
    assert took < 5 * SOON_SECONDS, f"took {took:.1f} s"
    return f"20 reads in {took * 1e3:.0f} ms"


async def objects(scene, era):
    """The SDK checks each object against the schema of its tool."""
    async with connected(scene.file("a.txt", "alpha\n"), era, "--yes") as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        assert all(schemas.values()), f"without a schema: {[name for name, schema in schemas.items() if not schema]}"
        for tool, arguments in [("read_file", {"path": "a.txt"}), ("bash", {"command": "exit 3"}), ("jobs", {})]:
            result = await succeed(client, tool, **arguments)
            assert result.structured_content["text"] == text_of(result), result.structured_content


async def large_result(scene, era):
    async with connected(scene, era, "--yes") as client:
        result = await succeed(client, "bash", command="seq 1 2000000")
        text = text_of(result)
        assert len(text) < 200_000, f"{len(text)} characters"
        assert "2000000" in text, "the end is not shown"
        kept = [str(resource.uri) for resource in (await client.list_resources()).resources if "spill" in str(resource.uri)]
        assert kept, "the whole output is no resource"
        page = (await client.read_resource(kept[0])).contents[0]
        assert page.text.startswith("1\n2\n"), page.text[:100]
        assert len(page.text) < 2_000_000, f"a page of {len(page.text)} characters"
        again = await succeed(client, "read_file", path="spill:" + kept[0].rpartition("/")[2], offset=1_000_000, limit=3)
        assert "1000001" in text_of(again), text_of(again)
    return f"{len(text)} characters of 14,888,896"


async def edit_and_undo(scene, era):
    scene.file("code.py", "answer = 41\n")
    async with connected(scene, era, "--yes") as client:
        await succeed(client, "read_file", path="code.py")
        await succeed(client, "edit_file", path="code.py", edits=[{"old_text": "41", "new_text": "42"}])
        assert scene.read("code.py") == "answer = 42\n"
        await succeed(client, "bash", command="rm code.py && echo x > other.py")
        assert scene.has("other.py") and not scene.has("code.py")
    for _ in range(2):
        undone = scene.haft("undo")
        assert undone.returncode == 0, undone.stderr
    assert scene.read("code.py") == "answer = 41\n" and not scene.has("other.py")


def answering(asked, choose):
    """Answers a question with what `choose` takes from the form."""

    async def answer(_, question):
        asked.append(question)
        return choose(question)

    return answer


def accept(question):
    """Fills the form as a person who allows it once: the first choice, nothing where nothing is required."""
    properties = question.requested_schema["properties"]
    content = {}
    for name in question.requested_schema.get("required", []):
        field = properties[name]
        choices = field.get("enum") or [choice["const"] for choice in field.get("oneOf", [])]
        content[name] = choices[0] if choices else True if field["type"] == "boolean" else ""
    return ElicitResult(action="accept", content=content)


async def accepted(scene, era):
    asked = []
    scene.file("old.txt", "old\n")
    async with connected(scene, era, answer=answering(asked, accept)) as client:
        await succeed(client, "write_file", path="asked.txt", content="yes\n")
        await succeed(client, "bash", command="rm old.txt")
    assert scene.read("asked.txt") == "yes\n" and not scene.has("old.txt")
    assert len(asked) == 2, f"asked {len(asked)} times"
    assert "asked.txt" in asked[0].message and "rm old.txt" in asked[1].message, [question.message for question in asked]


async def declined(scene, era):
    for action in ("decline", "cancel"):
        asked = []
        no = answering(asked, lambda _: ElicitResult(action=action))
        async with connected(scene, era, answer=no) as client:
            result = await client.call_tool("write_file", {"path": "asked.txt", "content": "yes\n"})
            assert result.is_error and len(asked) == 1, f"{action}: asked {len(asked)} times: {text_of(result)}"
            await succeed(client, "list_dir")
    assert not scene.has("asked.txt")


async def nobody_to_ask(scene, era):
    async with connected(scene, era) as client:
        began = time.monotonic()
        result = await client.call_tool("write_file", {"path": "asked.txt", "content": "yes\n"})
        took = time.monotonic() - began
    assert result.is_error and took < SOON_SECONDS, f"{took:.2f} s: {text_of(result)}"
    assert "rule" in text_of(result), f"names no rule: {text_of(result)}"
    assert not scene.has("asked.txt")
    return f"refused after {took * 1e3:.0f} ms"


async def log_as_resource(scene, era):
    async with connected(scene, era, "--yes") as client:
        await succeed(client, "write_file", path="made.txt", content="made\n")
        uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
        assert "haft://log" in uris, uris
        assert "made.txt" in (await client.read_resource("haft://log")).contents[0].text
        assert (await client.list_resource_templates()).resource_templates
        try:
            await client.read_resource("haft://nothing")
            raise AssertionError("an unknown resource is a result")
        except MCPError as error:
            assert error.code == INVALID_PARAMS, error


async def end_of_input(scene, era):
    """The client goes away while a command runs."""
    mark = f"{time.time_ns() % 10**9}"
    async with connected(scene, era, "--yes") as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "bash", {"command": f"sleep {mark}"})
            while not scene.running(f"sleep {mark}"):
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        began = time.monotonic()
    took = time.monotonic() - began
    assert took < SOON_SECONDS, f"the server took {took:.1f} s to end"
    left = await anyio.to_thread.run_sync(scene.left_over)
    assert not left, f"left over: {left}"


CHECKS = [
    ("the list is complete, stable and in words", list_tools),
    ("a file is read, a missing one and one outside are told", read),
    ("an unknown tool is an error of the protocol, a wrong argument a result", wrong_requests),
    ("a file is written and in the log", write),
    ("grep finds", grep),
    ("a command tells its progress", progress),
    ("cancelling kills the tree of a command", cancel),
    ("40 calls at once", forty_at_once),
    ("a slow call does not block others", slow_beside_fast),
    ("results are also objects", objects),
    ("a large result is bounded and kept", large_result),
    ("an edit and a command are undone by haft undo", edit_and_undo),
    ("a question is answered with yes", accepted),
    ("a question is answered with no", declined),
    ("who cannot be asked is refused at once", nobody_to_ask),
    ("the log is a resource", log_as_resource),
    ("the server ends with its client", end_of_input),
]
MODERN_CHECKS = [("a client that knows the version just begins", pinned_version)]


async def in_time(check):
    """A server that hangs fails its check, not the suite."""
    with anyio.fail_after(90):
        return await check


async def main(haft, wanted):
    failed = 0
    for client in wanted or CLIENTS:
        report = Report(client)
        for era, transport in itertools.product(CLIENTS[client][1], TRANSPORTS):
            for name, body in CHECKS + (MODERN_CHECKS if era != "2025-11-25" else []):
                with Scene(haft) as scene:
                    scene.client, scene.transport = client, transport
                    await report.check_async(f"{era} over {transport}: {name}", in_time(body(scene, era)))
        failed += report.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(anyio.run(main, sys.argv[1], sys.argv[2:]))
