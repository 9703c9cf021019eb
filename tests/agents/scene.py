"""A workspace with protected names in it, a home, and one session of an agent there.

Nothing here touches the real home. The session ends after `LIMIT_SECONDS`, whatever it waits for.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

# A session of forty calls takes some ten seconds; one that is not over by then hangs.
LIMIT_SECONDS = 60

# Keeps each event and its answer in a file of its own, and hands both on.
RECORDER = """#!/bin/sh
event={log}/$(date +%s%N)
cat > "$event.event"
{haft} "$@" < "$event.event" > "$event.answer"
code=$?
cat "$event.answer"
exit $code
"""


class Scene:
    """Use it as `with Scene(haft, folder) as scene:`; the folder is gone afterwards."""

    def __init__(self, haft, folder):
        self.haft = Path(haft).resolve()
        self.base = Path(tempfile.mkdtemp(prefix="scene-", dir=folder)).resolve()
        self.workspace = self.base / "workspace"
        self.home = self.base / "home"
        self.log = self.base / "log"
        for path in (self.workspace, self.home, self.log):
            path.mkdir()
        self.recorder = self.base / "recorder"
        self.recorder.write_text(RECORDER.format(log=self.log, haft=self.haft))
        self.recorder.chmod(0o755)
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "dumb"}
        self.run(["git", "init", "--quiet", "--initial-branch", "main"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.base, ignore_errors=True)

    def file(self, name, text):
        put(self.workspace / name, text)

    def home_file(self, name, text):
        put(self.home / name, text)

    def contents(self):
        """Every file of the workspace with its bytes."""
        return {
            str(path.relative_to(self.workspace)): path.read_bytes()
            for path in sorted(self.workspace.rglob("*"))
            if path.is_file()
        }

    def run(self, words):
        done = subprocess.run(words, cwd=self.workspace, env=self.environment, capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise RuntimeError(f"{words} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def hook_lines(self, agent):
        """The lines that haft prints for an agent, with the recorder in front of haft."""
        printed = self.run([str(self.haft), "guard", "--print-config", agent])
        lines = printed.replace(f"{self.haft} guard", f"{self.recorder} guard")
        if lines == printed:
            raise RuntimeError(f"haft is not named in its own lines: {printed}")
        return lines

    def remove_hook(self):
        """Takes the hook away, to see what the agent does without it."""
        self.recorder.write_text("#!/bin/sh\ncat > /dev/null\n")

    def coverage(self, agent):
        """The patterns of tool names that ask haft, and haft's words on what does not."""
        words = [str(self.haft), "guard", "--print-config", agent]
        printed = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=60)
        hooks = json.loads(printed.stdout)["hooks"].items()
        groups = [group for name, groups in hooks for group in groups if name.lower().startswith(("pre", "before"))]
        return [group.get("matcher", ".*") for group in groups], printed.stderr.partition("Not covered:")[2]

    def version(self, program):
        printed = subprocess.run([program, "--version"], env=self.environment, capture_output=True, text=True, timeout=60)
        found = re.search(r"\d+\.\d+[\w.-]*\d", printed.stdout)
        return found.group(0) if found else "of an unknown version"

    def forget_events(self):
        for path in self.log.iterdir():
            path.unlink()

    def events(self):
        """Each event that the agent sent, with the answer of haft, in order."""
        events = sorted(self.log.glob("*.event"))
        return [(event.read_text(), event.with_suffix(".answer").read_text()) for event in events]

    def session(self, words, environment):
        """Runs an agent until it ends or its time is up."""
        began = time.monotonic()
        output = self.base / "output"
        with output.open("wb") as sink:
            process = subprocess.Popen(
                words,
                cwd=self.workspace,
                env={**self.environment, **environment},
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                end_group(process)
        return Session(code, output.read_text(errors="replace"), time.monotonic() - began)


class Session:
    """How a session ended: the exit code (None when its time was up), what it printed, and how long it took."""

    def __init__(self, code, output, seconds):
        self.code = code
        self.output = output
        self.seconds = seconds


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
