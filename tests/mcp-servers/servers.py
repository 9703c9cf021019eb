"""Servers of others as tools of haft, and behind `haft mcp serve --with`.

Usage: servers.py HAFT FOLDER [SERVER…]
"""

import http.server
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mcp-clients"))

from report import Report  # noqa: E402
from scene import Scene  # noqa: E402
from wire import Wire  # noqa: E402

ENDS_WITHIN_SECONDS = 3.0


class Servers:
    """Where the servers are installed."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()

    def node(self, package, *words):
        modules = self.folder / "node_modules"
        node = modules / "node" / "bin" / "node"
        return [str(node), str(modules / "@modelcontextprotocol" / package / "dist" / "index.js"), *words]

    def python(self, program, *words):
        return [str(self.folder / "venv" / "bin" / program), *words]


class Used:
    """One server in a scene of its own."""

    def __init__(self, scene, name):
        self.scene = scene
        self.name = name

    def add(self, words, *flags):
        return self.haft("mcp", "add", self.name, *flags, "--", *words)

    def haft(self, *words):
        # `haft` of a scene puts its flags last, where they would belong to the server.
        return subprocess.run(
            [str(self.scene.program), "-C", str(self.scene.workspace), *words],
            env=self.scene.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def call(self, tool, **arguments):
        said = self.haft("call", "--yes=all", "--json", f"{self.name}__{tool}", json.dumps(arguments))
        assert said.stdout, said.stderr
        return json.loads(said.stdout)

    def gateway(self, *flags):
        return Wire(self.scene, "--with", self.name, "--yes=all", *flags)


def text_of(record):
    content = record["content"]
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in content)


def ok(record, words):
    assert record["status"] == "ok", record
    assert words in text_of(record), f"{words!r} is not in {text_of(record)[:500]!r}"


def usual(used, words, flags, first):
    """What must work with every server: consent, list, doctor, a call, the gateway, and its end."""
    added = used.add(words, *flags)
    assert added.returncode == 0, f"{added.stdout[-600:]}{added.stderr[-600:]}"
    listed = json.loads(used.haft("mcp", "list", "--json").stdout)["servers"]
    [own] = [server for server in listed if server["name"] == used.name]
    assert own["state"] == "allowed" and own["tools"] > 0, own
    doctor = used.haft("mcp", "doctor", used.name)
    assert doctor.returncode == 0 and "answered in" in doctor.stdout, doctor.stdout + doctor.stderr
    if first:
        tool, arguments, expected = first
        ok(used.call(tool, **arguments), expected)
    with used.gateway() as wire:
        wire.shake_hands()
        tools = wire.ask(wire.request("tools/list"))["result"]["tools"]
        served = [tool["name"] for tool in tools if tool["name"].startswith(f"{used.name}__")]
        assert len(served) == own["tools"] or "search_tools" in [tool["name"] for tool in tools], served
        if first:
            answer = wire.ask(wire.tool(f"{used.name}__{tool}", **arguments), within=60)
            assert expected in json.dumps(answer["result"], ensure_ascii=False), answer
        refused = wire.ask(wire.tool(f"{used.name}__no_such_tool"))
        assert refused["error"]["code"] == -32602, refused
        wire.process.stdin.close()
        wire.ends(within=ENDS_WITHIN_SECONDS)
    left = used.scene.left_over(within=ENDS_WITHIN_SECONDS)
    assert not left, f"left over: {left}"
    return f"{own['tools']} tools, about {own['tokens']} tokens"


def everything(servers, used):
    note = usual(used, servers.node("server-everything"), [], ("echo", {"message": "hello"}, "hello"))
    names = [tool["name"] for tool in json.loads(used.haft("tools", "--all", "--json").stdout)]
    has = lambda name: f"{used.name}__{name}" in names
    if has("get-tiny-image"):
        with used.gateway() as wire:
            wire.shake_hands()
            image = wire.ask(wire.tool(f"{used.name}__get-tiny-image"), within=60)["result"]
            assert any(block["type"] == "image" for block in image["content"]), image
    if has("get-structured-content"):
        with used.gateway() as wire:
            wire.shake_hands()
            result = wire.ask(wire.tool(f"{used.name}__get-structured-content", location="New York"), within=60)["result"]
            assert isinstance(result.get("structuredContent"), dict), result
    if has("get-resource-links"):
        ok(used.call("get-resource-links", count=2), "[resource ")
    long = "trigger-long-running-operation"
    if has(long):
        with used.gateway() as wire:
            wire.shake_hands()
            call = wire.tool(f"{used.name}__{long}", duration=2, steps=4)
            call["params"]["_meta"] = {"progressToken": "p"}
            answer = wire.ask(call, within=60)
            assert not answer["result"].get("isError"), answer
            told = [m for m in wire.messages if m.get("method") == "notifications/progress"]
            assert told, "no progress was told"
            slow = wire.tool(f"{used.name}__{long}", duration=600, steps=2)
            wire.send(slow)
            time.sleep(0.5)
            wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow["id"]}})
            other = wire.ask(wire.tool(f"{used.name}__echo", message="after"), within=30)
            assert "after" in json.dumps(other), other
            assert not wire.answered(slow["id"]), "a cancelled call was answered"
    return note


def filesystem(servers, used):
    workspace = used.scene.workspace
    first = ("read_text_file", {"path": str(workspace / "notes.txt")}, "good")
    note = usual(used, servers.node("server-filesystem", str(workspace)), [], first)
    written = used.call("write_file", path=str(workspace / "new.txt"), content="x")
    assert written["status"] == "failed" and not used.scene.has("new.txt"), written
    (used.scene.home / "private.txt").write_text("canary")
    outside = used.call("read_text_file", path=str(used.scene.home / "private.txt"))
    assert outside["status"] == "failed" and "canary" not in json.dumps(outside), outside
    return note


def memory(servers, used):
    entity = {"name": "haft", "entityType": "tool", "observations": ["has a log"]}
    first = ("create_entities", {"entities": [entity]}, "haft")
    # Beside its program, where it writes otherwise, it cannot.
    own = used.scene.home / "memory.jsonl"
    note = usual(used, servers.node("server-memory"), ["--env", f"MEMORY_FILE_PATH={own}"], first)
    assert not own.exists(), "it wrote into the home of the user"
    ok(used.call("search_nodes", query="haft"), "has a log")
    return note


def git(servers, used):
    run = lambda *words: subprocess.run(words, cwd=used.scene.workspace, check=True, capture_output=True)
    run("git", "init", "-q")
    run("git", "add", "notes.txt")
    run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "the first commit")
    repository = {"repo_path": str(used.scene.workspace)}
    words = servers.python("mcp-server-git", "--repository", str(used.scene.workspace))
    note = usual(used, words, [], ("git_log", repository, "the first commit"))
    used.scene.file("notes.txt", "other\n")
    ok(used.call("git_diff_unstaged", **repository), "+other")
    staged = used.call("git_add", **repository, files=["notes.txt"])
    assert staged["status"] == "failed", staged
    return note


def time_of_day(servers, used):
    first = ("get_current_time", {"timezone": "UTC"}, "UTC")
    note = usual(used, servers.python("mcp-server-time"), [], first)
    wrong = used.call("convert_time", source_timezone="UTC")
    assert wrong["error"]["kind"] == "bad_arguments", wrong
    return note


def fetch(servers, used):
    """It reaches no host that was not granted, and not this machine."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), NeverAsked) as page:
        threading.Thread(target=page.serve_forever, daemon=True).start()
        words = servers.python("mcp-server-fetch", "--ignore-robots-txt", "--allow-private-ips")
        note = usual(used, words, ["--host", "granted.example"], None)
        for url in ("http://not-granted.example/", f"http://localhost:{page.server_address[1]}/"):
            refused = used.call("fetch", url=url)
            assert refused["status"] == "failed", refused
        page.shutdown()
    assert not NeverAsked.asked, NeverAsked.asked
    return note


class NeverAsked(http.server.BaseHTTPRequestHandler):
    """A page of this machine that no server of this suite may read."""

    asked = []

    def do_GET(self):
        self.asked.append(self.path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


SERVERS = {
    "everything": everything,
    "filesystem": filesystem,
    "memory": memory,
    "git": git,
    "time": time_of_day,
    "fetch": fetch,
}


def main(haft, folder, *names):
    unknown = [name for name in names if name not in SERVERS]
    if unknown:
        print(f"there is no server {unknown[0]!r}; there are {', '.join(SERVERS)}", file=sys.stderr)
        return 2
    report = Report("servers")
    servers = Servers(folder)
    for name in names or SERVERS:
        with Scene(haft) as scene:
            scene.file("notes.txt", "good\n")
            report.check(name, lambda: SERVERS[name](servers, Used(scene, name)))
    return report.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
