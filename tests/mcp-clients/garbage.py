"""Lines that no client should send, each followed by a good request that must be answered.

Usage: garbage.py HAFT

Tried in three states: before the handshake, after it, and in the era that has none. A request whose id can be
read must be answered too, by a result or by an error: who waits for it would wait for ever.
"""

import copy
import json
import sys

from report import Report
from scene import Scene
from wire import LEGACY, MODERN, Wire, key

STATES = ["before the handshake", "after the handshake", "without handshake"]
MOST_MEMORY_MB = 150
# A line may be 64 MiB; what is made of it while it is read may be some times as much.
MOST_MEMORY_LARGE_MB = 600

ODD_VALUES = [None, True, -1, 0, 1.5, 10**30, "", "x", "\u0000", "\ud800", [], [[]], {}, {"a": {}}, "y" * 100_000]


def era_of(state):
    return MODERN if state == "without handshake" else LEGACY


def lines(wire, state):
    """The name of each piece of garbage and its bytes, without the newline."""
    good = json.dumps(wire.tool("read_file", era_of(state), path="notes.txt")).encode()
    yield "an empty line", b""
    yield "blanks", b" \t \r"
    yield "no JSON", b"hello?"
    yield "HTTP", b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r"
    yield "a header as editors send it", b"Content-Length: 52\r\n\r"
    yield "half of a message", good[: len(good) // 2]
    yield "half of a message and a whole one", good[: len(good) // 2] + good
    yield "two messages in one line", good + good
    yield "a comma too much", good[:-1] + b",}"
    yield "a line that ends with CR", good + b"\r"
    yield "a byte order mark", b"\xef\xbb\xbf" + good
    yield "UTF-16", good.decode().encode("utf-16")
    yield "bytes that are no UTF-8", good.replace(b"notes", b"\xff\xfe\xc3\x28")
    yield "overlong UTF-8", good.replace(b"notes", b"\xc0\xae\xc0\xae")
    yield "NUL bytes", b"\0" * 1000
    yield "NUL inside", good.replace(b"notes", b"no\0tes")
    yield "all control characters", bytes(range(32)).replace(b"\n", b"")
    yield "every byte", bytes(range(256)).replace(b"\n", b"") * 10
    for text in ("null", "true", "0", '"text"', "[]", "{}", "1e999", "-", '"', "[1,2", "NaN"):
        yield f"the value {text}", text.encode()
    yield "a batch", b"[" + good + b"," + good + b"]"
    yield "a batch of nothing useful", b"[1,null,[],{}]"
    yield "a batch of 10,000", b"[" + b",".join([b'{"jsonrpc":"2.0","method":"notifications/x"}'] * 10_000) + b"]"
    yield "keys twice", good[:-1] + b',"method":"tools/list","id":"other"}'
    yield "100,000 brackets", b"[" * 100_000
    yield "100,000 brackets that close", b"[" * 100_000 + b"]" * 100_000
    yield "100,000 objects in each other", b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    nested = b'{"path":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    yield "100,000 brackets as an argument", b'{"jsonrpc":"2.0","id":"n","method":"tools/call","params":{"name":"read_file","arguments":' + nested + b"}}"
    yield "a number of a million digits", b'{"jsonrpc":"2.0","id":' + b"9" * 1_000_000 + b',"method":"tools/list"}'
    yield "a method of a million letters", b'{"jsonrpc":"2.0","id":"m","method":"' + b"m" * 1_000_000 + b'"}'
    yield "an id of a million letters", b'{"jsonrpc":"2.0","id":"' + b"i" * 1_000_000 + b'","method":"no/such"}'
    yield "a tool of a million letters", json.dumps(wire.tool("t" * 1_000_000, era_of(state))).encode()
    yield "100,000 arguments", json.dumps(wire.tool("read_file", era_of(state), **{f"a{n}": n for n in range(100_000)})).encode()


def messages(wire, state):
    """Well-formed JSON that means nothing, or not now."""
    era = era_of(state)
    for id in (1, 0, -1, None, "", "x", 1.5, [], {}, 2**63, -(2**63) - 1, 10**40):
        yield f"an answer to nothing, id {id!r}", {"jsonrpc": "2.0", "id": id, "result": {}}
        yield f"an error to nothing, id {id!r}", {"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "no"}}
        yield f"a request with the id {id!r}", wire.tool("read_file", era, path="notes.txt") | {"id": id}
    yield "an answer with result and error", {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}
    yield "an error that is text", {"jsonrpc": "2.0", "id": 1, "error": "no"}
    for method in ("", "x", "tools", "tools/", "Tools/List", "rpc.discover", "tools/list\n", "elicitation/create", "sampling/createMessage"):
        yield f"the method {method!r}", wire.request(method, {}, era)
        yield f"a notification {method!r}", {"jsonrpc": "2.0", "method": method}
    for reason in ODD_VALUES:
        yield f"cancelling {str(reason)[:20]!r}", cancel(reason)
    yield "cancelling without saying what", {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    yield "progress of nothing", {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 7, "progress": 1}}
    yield "roots have changed", {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
    yield "a second initialized", {"jsonrpc": "2.0", "method": "notifications/initialized"}
    for method in ("tools/list", "resources/list", "resources/read", "resources/templates/list", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "ping", "server/discover", "subscriptions/listen", "resources/subscribe", "tasks/get", "tasks/list"):
        yield f"{method} as of the other era", wire.request(method, {}, LEGACY if era == MODERN else MODERN)
        yield f"{method} with a wrong cursor", wire.request(method, {"cursor": "no such page"}, era)
        yield f"{method} with params that are a list", wire.request(method, {}, era) | {"params": [1, 2]}
        yield f"{method} without params", without(wire.request(method, {}, era), "params")
    for uri in ("", "haft:", "haft://", "haft://log/../../etc/passwd", "file:///etc/passwd", "haft://spill/", "haft://spill/../x", "haft://spill/%00", "haft://spill/" + "9" * 5000, "\n", "haft://LOG"):
        yield f"the resource {uri[:40]!r}", wire.request("resources/read", {"uri": uri}, era)
    for version in ("", "2024-11-05", "1900-01-01", "9999-99-99", "latest", "2026-07-28 ", None, 20260728, ["2026-07-28"]):
        modern = wire.request("tools/list", {}, MODERN)
        modern["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = version
        yield f"the version {version!r} of a request", modern
    if state != "before the handshake":
        yield "a handshake", wire.request("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}})
    yield from wrong_types(wire.tool("read_file", era, path="notes.txt"))
    yield from wrong_types(wire.request("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}), spoils_only=True)


def cancel(id):
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "why not"}}


def without(message, field):
    return {name: value for name, value in message.items() if name != field}


def wrong_types(message, spoils_only=False):
    """Every field of a message, at every depth, with every odd value, and left out."""
    for path in paths(message):
        if spoils_only and path[0] != "params":
            continue
        for number, value in enumerate([*ODD_VALUES, ...]):
            changed = copy.deepcopy(message)
            inner = changed
            for name in path[:-1]:
                inner = inner[name]
            if value is ...:
                del inner[path[-1]]
            else:
                inner[path[-1]] = value
            if path != ["id"]:
                changed["id"] = f"{message['id']}-{'.'.join(path)}-{number}"
            yield f"{message['method']}: {'.'.join(path)} is {'left out' if value is ... else repr(value)[:20]}", changed


def paths(value):
    for name, inner in value.items():
        yield [name]
        if isinstance(inner, dict):
            yield from ([name, *rest] for rest in paths(inner))


def is_owed_an_answer(message):
    """Whether somebody waits: it has an id as the protocol has them, which can be repeated, and a method."""
    id = message.get("id")
    is_text = isinstance(id, str) and len(id) < 1000 and id != "\ud800"
    is_id = is_text or isinstance(id, int) and not isinstance(id, bool) and abs(id) < 2**53
    return is_id and isinstance(message.get("method"), str) and not ("result" in message or "error" in message)


class Battery:
    """A server that takes garbage until it fails, and then another one."""

    def __init__(self, scene, state):
        self.scene, self.state = scene, state
        self.wire = None

    def fresh(self):
        self.wire = Wire(self.scene)
        if self.state == "after the handshake":
            self.wire.shake_hands()

    def end(self):
        if self.wire:
            self.wire.__exit__()
            self.wire = None

    def each(self, kind):
        """Sends every piece. Before the handshake each needs a server of its own, which then shakes hands."""
        with Wire(self.scene) as writer:
            writer.id_prefix = "g"
            pieces = list(kind(writer, self.state))
        failures = []
        for name, piece in pieces:
            if self.wire is None:
                self.fresh()
            try:
                self.one(piece)
            except AssertionError as error:
                failures.append(f"{name}: {error}"[:300])
                self.end()
            if self.state == "before the handshake":
                self.end()
        self.end()
        assert not failures, f"{len(failures)} of {len(pieces)}:\n        " + "\n        ".join(failures)
        return f"{len(pieces)} of them"

    def one(self, piece):
        wire = self.wire
        id = piece.get("id") if isinstance(piece, dict) else None
        before = len(wire.by_id.get(key(id), []))
        if isinstance(piece, bytes):
            wire.send_bytes(piece + b"\n")
        else:
            wire.send(piece)
        if self.state == "before the handshake":
            wire.shake_hands()
        wire.still_serves(era_of(self.state))
        if isinstance(piece, dict) and is_owed_an_answer(piece):
            wire.wait_for(lambda _: len(wire.by_id.get(key(id), [])) > before)
            answers = len(wire.by_id.get(key(id), [])) - before
            assert answers == 1, f"{answers} answers to one request {wire.state()}"
        assert wire.peak_mb() < MOST_MEMORY_MB, f"needs {wire.peak_mb():.0f} MB"


def large_line(scene, state, line, most_mb):
    """A line that is too long, or not quite: skipped or refused, in bounded memory."""
    with Wire(scene) as wire:
        if state == "after the handshake":
            wire.shake_hands()
        wire.send_bytes(line)
        if state == "before the handshake":
            wire.shake_hands()
        wire.still_serves(era_of(state), within=30)
        assert wire.peak_mb() < most_mb, f"needs {wire.peak_mb():.0f} MB"
        return f"peak {wire.peak_mb():.0f} MB"


def large_lines():
    head = b'{"jsonrpc":"2.0","id":"large","method":"tools/call","params":{"name":"read_file","arguments":{"path":'
    yield "100 MB of text", head + b'"' + b"x" * 100_000_000 + b'"}}}\n', MOST_MEMORY_LARGE_MB
    yield "100 MB without sense", b"x" * 100_000_000 + b"\n", MOST_MEMORY_LARGE_MB
    yield "100 MB of brackets", b"[" * 100_000_000 + b"\n", MOST_MEMORY_LARGE_MB
    yield "30 MB of text", head + b'"' + b"x" * 30_000_000 + b'"}}}\n', MOST_MEMORY_LARGE_MB
    yield "60 MB of numbers", head + b"[" + b"0," * 30_000_000 + b"0]}}}\n", MOST_MEMORY_LARGE_MB
    yield "60 MB of objects", head + b"[" + b"{}," * 20_000_000 + b"{}]}}}\n", MOST_MEMORY_LARGE_MB
    yield "2 MB of numbers", head + b"[" + b"0," * 900_000 + b"0]}}}\n", MOST_MEMORY_LARGE_MB
    yield "100,000 lines without sense", b"?\n" * 100_000, MOST_MEMORY_MB


def main(haft):
    report = Report("garbage")
    for state in STATES:
        for title, kind in (("lines", lines), ("messages", messages)):
            with Scene(haft) as scene:
                scene.file("notes.txt", "good\n")
                report.check(f"{state}: {title}", lambda: Battery(scene, state).each(kind))
        for title, line, most_mb in large_lines():
            with Scene(haft) as scene:
                scene.file("notes.txt", "good\n")
                report.check(f"{state}: {title}", lambda: large_line(scene, state, line, most_mb))
    return report.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
