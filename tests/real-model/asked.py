"""The server with its model, and haft asking it: records with the time at which each came."""

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from server import NAME

# Reading a request with all tools takes half a minute on one busy core.
LONGEST_SECONDS = 240


class Server:
    """Use it as `with Server() as server:`; it has ended afterwards, also when it was stopped."""

    def __init__(self, port=0):
        words = [sys.executable, str(Path(__file__).parent / "server.py"), str(port)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        # A session of its own: the kernel wakes what is stopped when the shell that it belongs to goes away.
        self.process = subprocess.Popen(words, text=True, start_new_session=True, **pipes)
        said = self.process.stdout.readline()
        if not said.startswith("listening on "):
            self.process.kill()
            raise RuntimeError(f"the server did not start: see {' '.join(words)}")
        self.port = int(said.rstrip().rpartition(":")[2])
        self.base_url = f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Asked:
    """A run of haft against a base URL. Its records are read while they come."""

    def __init__(self, scene, base_url, *words, command="run"):
        there = ["--wire", "chat", "--base-url", base_url, "--model", NAME]
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [str(scene.program), command, "--json", *there, "-C", str(scene.workspace), *words],
            env=scene.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.records = []  # (seconds since the beginning, record)
        self.coming = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.coming.put((time.monotonic() - self.began, json.loads(line)))
        self.coming.put(None)

    def wait_for(self, event, count=1, within=LONGEST_SECONDS):
        """Waits until so many records of a kind have come."""
        until = time.monotonic() + within
        while len(self.of(event)) < count:
            if not self.take(until):
                raise AssertionError(f"haft ended before {count} × {event}: {self.records[-1:]}")
        return self

    def end(self, within=LONGEST_SECONDS):
        """Waits for the end and returns the last record. Exit status and record must say the same."""
        until = time.monotonic() + within
        while self.take(until):
            pass
        code = self.process.wait(timeout=5)
        complaints = self.process.stderr.read()
        assert self.records, f"no record came; status {code}: {complaints}"
        last = self.records[-1][1]
        assert last["event"] == "ended", f"the last record is {last}; {complaints}"
        assert last["exit_code"] == code, f"the record says {last['exit_code']}, the status is {code}"
        assert "panicked" not in complaints, complaints
        assert last["how"] == "finished" or "Next: " in last["error"], f"no next step: {last}"
        return last

    def take(self, until):
        try:
            came = self.coming.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            self.process.kill()
            raise AssertionError(f"haft did not go on in time; its last record: {self.records[-1:]}") from None
        if came is not None:
            self.records.append(came)
        return came is not None

    def of(self, *events):
        return [record for _, record in self.records if record["event"] in events]

    def text(self):
        return "".join(record["text"] for record in self.of("text"))

    def interrupt(self):
        """Ctrl-C; returns the last record and how long the end took."""
        pressed = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        last = self.end(within=5)
        return last, time.monotonic() - pressed
