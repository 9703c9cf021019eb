"""A client that speaks bytes: it can say what no SDK would send, and be as slow or as gone as it likes."""

import json
import os
import select
import signal
import subprocess
import threading

from scene import SOON_SECONDS, ended, peak_memory_mb, wait_until

LEGACY = "2025-11-25"
MODERN = "2026-07-28"
# A busy machine is no reason to fail; a server that hangs is still found.
PATIENCE_SECONDS = 5 * SOON_SECONDS
ASKABLE = {"elicitation": {"form": {}}}


class Wire:
    """A server with its pipes."""

    def __init__(self, scene, *flags, stderr=subprocess.DEVNULL, capabilities=None):
        self.capabilities = capabilities or {}
        self.process = subprocess.Popen(
            scene.server(*flags),
            env=scene.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
        )
        os.set_blocking(self.process.stdin.fileno(), False)
        self.changed = threading.Condition()
        self.messages = []
        self.by_id = {}
        self.problems = []
        self.closed = False
        self.reading = threading.Event()
        self.parked = threading.Event()
        self.next_id = 0
        self.id_prefix = "r"
        self.reading.set()
        threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.reading.set()

    # What is sent.

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data, within=60.0):
        """Writes all of it; the server may take its time, but must go on taking."""
        left = self.send_until_stuck(data, within)
        assert not left, f"the server took nothing for {within:.0f} s; {len(left)} bytes are left"

    def send_until_stuck(self, data, quiet):
        """Writes until the server has taken nothing for a while; what is left."""
        pipe, left = self.process.stdin.fileno(), memoryview(data)
        while left:
            if not select.select([], [pipe], [], quiet)[1]:
                break
            try:
                left = left[os.write(pipe, left) :]
            except BlockingIOError:
                pass
            except BrokenPipeError:
                raise AssertionError(f"the server has ended with {self.process.wait()}") from None
        return left

    def request(self, method, params=None, era=LEGACY, id=None):
        """A request as that era writes it; returned as a message, not sent."""
        self.next_id += 1
        params = dict(params or {})
        if era == MODERN:
            about = {"protocolVersion": MODERN, "clientCapabilities": self.capabilities, "clientInfo": CLIENT}
            params["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
        return {"jsonrpc": "2.0", "id": f"{self.id_prefix}{self.next_id}" if id is None else id, "method": method, "params": params}

    def tool(self, name, era=LEGACY, id=None, **arguments):
        return self.request("tools/call", {"name": name, "arguments": arguments}, era, id)

    def shake_hands(self, version=LEGACY):
        hello = {"protocolVersion": version, "capabilities": self.capabilities, "clientInfo": CLIENT}
        answer = self.ask(self.request("initialize", hello))
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def begin(self, era):
        if era == LEGACY:
            self.shake_hands()

    # What comes back.

    def ask(self, request, within=PATIENCE_SECONDS):
        """Sends a request and waits for its answer: the result, or the error as it is."""
        self.send(request)
        return self.answer(request["id"], within)

    def answer(self, id, within=PATIENCE_SECONDS):
        with self.changed:
            self.changed.wait_for(lambda: key(id) in self.by_id or self.closed, within)
            assert key(id) in self.by_id, f"no answer to {id!r} {self.state()}"
            return self.by_id[key(id)][0]

    def answered(self, id):
        return key(id) in self.by_id

    def wait_for(self, condition, within=PATIENCE_SECONDS):
        """Whether a message that fits has come; the first of them."""
        with self.changed:
            self.changed.wait_for(lambda: any(map(condition, self.messages)) or self.closed, within)
            return next(filter(condition, self.messages), None)

    def still_serves(self, era, within=PATIENCE_SECONDS):
        """The next good request gets its right answer, and nothing on the way was no message."""
        answer = self.ask(self.tool("read_file", era, path="notes.txt"), within)
        assert "result" in answer, f"a good request is refused: {answer}"
        assert "good" in answer["result"]["content"][0]["text"], f"a good request has a wrong answer: {answer}"
        assert not self.problems, f"the server wrote what is no message: {self.problems[0]}"

    def ends(self, within=SOON_SECONDS):
        """The status with which it ended in time."""
        assert wait_until(lambda: ended(self.process.pid), within), f"still runs after {within:.0f} s"
        return self.process.wait()

    def peak_mb(self):
        return peak_memory_mb(self.process.pid) or 0

    def signal(self, number):
        self.process.send_signal(number)

    def state(self):
        if ended(self.process.pid):
            status = self.process.wait()
            return f"(the server has ended: {signal.Signals(-status).name if status < 0 else status})"
        return "(the server runs)"

    def stop_reading(self):
        """Takes nothing more of what the server writes, until `reading` is set again."""
        self.reading.clear()
        self.parked.wait()

    def close_output(self):
        """Nobody reads any more, and the server can find that out."""
        self.stop_reading()
        self.process.stdout.close()

    def read(self):
        rest = b""
        while chunk := self.read_chunk():
            *lines, rest = (rest + chunk).split(b"\n")
            with self.changed:
                for line in lines:
                    self.take(line)
                self.changed.notify_all()
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def read_chunk(self):
        output = self.process.stdout
        while True:
            if not self.reading.is_set():
                self.parked.set()
                self.reading.wait()
                self.parked.clear()
            try:
                # Not for long, so that it can be told to stop.
                if select.select([output], [], [], 0.02)[0]:
                    return os.read(output.fileno(), 1 << 20)
            except (OSError, ValueError):  # closed from our side
                return b""

    def take(self, line):
        try:
            message = json.loads(line)
            assert isinstance(message, dict) and message["jsonrpc"] == "2.0"
        except (ValueError, AssertionError, KeyError):
            self.problems.append(line[:200])
            return
        self.messages.append(message)
        if "method" not in message:
            self.by_id.setdefault(key(message.get("id")), []).append(message)


CLIENT = {"name": "garbage", "version": "1"}


def key(id):
    """1 and "1" and True are different ids."""
    return json.dumps(id)
