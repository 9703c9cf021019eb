"""A workspace with a home of its own, and the processes that belong to it.

Nothing here touches the real home: haft gets a fresh one for each scene.
"""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

# What a person would notice. Everything that has to end, ends within it.
SOON_SECONDS = 1.0


class Scene:
    """Use it as `with Scene(haft) as scene:`; the folder is gone afterwards."""

    def __init__(self, haft):
        self.program = Path(haft).resolve()
        self.base = Path(tempfile.mkdtemp(prefix="haft-mcp-")).resolve()
        self.workspace = self.base / "workspace"
        self.home = self.base / "home"
        self.workspace.mkdir()
        self.home.mkdir()
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        for name in ("CONFIG", "STATE", "DATA", "CACHE"):
            self.environment[f"XDG_{name}_HOME"] = str(self.home / name.lower())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes():
            end(process)
        shutil.rmtree(self.base, ignore_errors=True)

    def file(self, name, text):
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return self

    def read(self, name):
        return (self.workspace / name).read_text()

    def has(self, name):
        return (self.workspace / name).exists()

    def contents(self):
        """Every file of the workspace with its bytes."""
        return {
            str(path.relative_to(self.workspace)): path.read_bytes()
            for path in sorted(self.workspace.rglob("*"))
            if path.is_file()
        }

    def server(self, *flags):
        """The words that start the server, the program first."""
        return [str(self.program), "mcp", "serve", "-C", str(self.workspace), *flags]

    def haft(self, *words):
        """Runs another haft command in the workspace, as a person would beside the server."""
        return subprocess.run(
            [str(self.program), *words, "-C", str(self.workspace)],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def processes(self):
        """The ids of all processes that belong to this scene, also those whose parent is gone.

        The name of the scene's folder is in the environment of the server and in the working folder
        or the words of what it started.
        """
        mark = self.base.name.encode()
        return [process for process in all_processes() if mark in traces(process)]

    def running(self, words):
        """The processes of this machine with these words in their command line."""
        return [process for process in all_processes() if words.encode() in command_line(process)]

    def left_over(self, within=SOON_SECONDS):
        """What still runs after a moment, as lines to read; empty when all of it has ended.

        One look may miss a process that another one makes while it looks, so it takes three.
        """
        if wait_until(lambda: not any(self.processes() for _ in range(3)), within):
            return []
        return [f"{process}: {command_line(process).decode(errors='replace')}" for process in self.processes()]


def wait_until(condition, within):
    """Looks again and again; whether it came true in time."""
    end_time = time.monotonic() + within
    while not condition():
        if time.monotonic() > end_time:
            return False
        time.sleep(0.005)
    return True


def all_processes():
    own = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != own]


def command_line(process):
    return read(f"/proc/{process}/cmdline").replace(b"\0", b" ").strip()


def traces(process):
    """Words, environment and working folder of a process; nothing of one that has ended."""
    if ended(process):
        return b""
    try:
        folder = os.readlink(f"/proc/{process}/cwd").encode()
    except OSError:
        folder = b""
    return command_line(process) + b"\n" + read(f"/proc/{process}/environ") + b"\n" + folder


def ended(process):
    """One that is only waiting to be noticed by its parent has ended too."""
    stat = read(f"/proc/{process}/stat")
    return not stat or stat.rpartition(b") ")[2][:1] in (b"Z", b"X")


def peak_memory_mb(process):
    """The most memory that was resident at once, or None when it has ended."""
    for line in read(f"/proc/{process}/status").splitlines():
        if line.startswith(b"VmHWM:"):
            return int(line.split()[1]) / 1024
    return None


def end(process):
    try:
        os.kill(process, 9)
    except ProcessLookupError:
        pass


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
