"""A home, a project, a scripted model, and a terminal with a shell in it."""

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
# A program that shows nothing for so many seconds hangs.
HANGS = 60


def scripted_model():
    """Returns the program of the scripted model; builds it where it is not named."""
    if "SCRIPTED_MODEL" not in os.environ:
        words = ["cargo", "build", "--quiet", "--manifest-path", os.path.join(ROOT, "Cargo.toml")]
        subprocess.run([*words, "--target-dir", TARGET, "--package", "haft-testkit", "--bin", "scripted-model"], check=True)
        os.environ["SCRIPTED_MODEL"] = os.path.join(TARGET, "debug", "scripted-model")
    return os.environ["SCRIPTED_MODEL"]


class Place:
    """Use it as `with Place(haft) as place:`; the folder is gone afterwards."""

    def __init__(self, haft):
        self.haft = haft
        self.root = tempfile.mkdtemp(prefix="haft-terminal-")
        self.workspace = os.path.join(self.root, "ws")
        self.home = os.path.join(self.root, "home")
        os.makedirs(self.workspace)
        os.makedirs(self.home)
        with open(os.path.join(self.workspace, "a.txt"), "w") as file:
            file.write("one\ntwo\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)

    def environment(self, model=None):
        kept = {"HOME": self.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TMPDIR": self.root, "PS1": "$ "}
        return dict(kept, **(model.environment() if model else {}))

    def run(self, *words):
        done = subprocess.run([self.haft, *words], cwd=self.workspace, env=self.environment(), capture_output=True, text=True, timeout=HANGS)
        return done.stdout


class Model:
    """A scripted model that runs; `turns` are those of docs/guide/scripted-model.md."""

    def __init__(self, place, turns):
        script = os.path.join(place.root, f"script-{time.monotonic_ns()}.yaml")
        with open(script, "w") as file:
            json.dump({"turns": turns}, file)
        self.process = subprocess.Popen([scripted_model(), script], stdout=subprocess.PIPE, text=True)
        found = dict(line.split() for line in (self.process.stdout.readline() for _ in range(4)))
        self.address = found["chat"]

    def environment(self):
        return {"HAFT_MODEL": "scripted", "HAFT_WIRE": "chat", "HAFT_BASE_URL": self.address, "HAFT_API_KEY": "sk-scripted"}

    def stop(self):
        self.process.kill()
        self.process.wait()


class Terminal:
    """A terminal with a program in it. Everything that it prints is in `raw`, and the sizes in `sizes`."""

    def __init__(self, words, folder, environment, size=(40, 80)):
        self.raw = bytearray()
        self.sizes = []
        self.closes = False
        self.new_size = None
        self.changed = threading.Condition()
        self.pid, self.side = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)
        self._resize(*size)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while True:
            # Nothing that was printed is on its way while the size changes or the terminal closes.
            while not select.select([self.side], [], [], 0.005)[0]:
                if self.closes:
                    os.close(self.side)
                    return
                if self.new_size:
                    self._resize(*self.new_size)
            try:
                piece = os.read(self.side, 65536)
            except OSError:
                piece = b""
            with self.changed:
                self.raw += piece
                self.changed.notify_all()
            if not piece:
                return

    def _resize(self, rows, columns):
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.sizes.append((len(self.raw), rows, columns))
        self.new_size = None

    def resize(self, rows, columns):
        self.new_size = (rows, columns)
        while self.new_size:
            time.sleep(0.002)

    def types(self, text):
        os.write(self.side, text.encode())

    def prints(self, text, since=0, limit=HANGS):
        """Waits until this was printed; returns where it ends, or fails."""
        wanted = text if isinstance(text, bytes) else text.encode()
        ends = time.monotonic() + limit
        with self.changed:
            while (found := self.raw.find(wanted, since)) < 0:
                left = ends - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"{text!r} is not printed:\n{plain(self.raw[-4000:])}")
                self.changed.wait(left)
        return found + len(wanted)

    def quiet(self, seconds=0.5, limit=20):
        """Waits until nothing is printed for so long."""
        ends = time.monotonic() + limit
        with self.changed:
            while time.monotonic() < ends:
                if not self.changed.wait(seconds):
                    return

    def close(self):
        """Closes the terminal, as a window that is closed."""
        self.closes = True
        self.reader.join()

    def end(self):
        for number in (signal.SIGHUP, signal.SIGKILL):
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                pass
        os.waitpid(self.pid, 0)


def plain(raw):
    """Returns what was printed without sequences of control."""
    text = bytes(raw).decode(errors="replace")
    return re.sub(r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|[\r\x07]", "", text)


def child_named(parent, name):
    """Returns the process of this name among the children of a process."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as file:
                facts = file.read()
        except OSError:
            continue
        words = facts.rsplit(")", 1)
        if int(words[1].split()[1]) == parent and words[0].split("(", 1)[1] == name:
            return int(entry)
    return None
