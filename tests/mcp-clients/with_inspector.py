"""haft as a server, used through the command line of the official inspector in both eras of the protocol.

Usage: with_inspector.py HAFT FOLDER, where FOLDER holds the `node_modules` of package.json
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from report import Report
from scene import Scene

ERAS = {"2025-11-25": "legacy", "2026-07-28": "modern"}


class Inspector:
    def __init__(self, folder, scene, era):
        self.programs = Path(folder).resolve() / "node_modules" / ".bin"
        self.scene = scene
        self.era = era

    def run(self, flags, *request):
        """One run of the inspector: it connects, sends one request and ends."""
        words = [str(self.programs / "mcp-inspector"), "--cli", *self.scene.server(*flags)]
        words += ["--protocol-era", ERAS[self.era], "--format", "json", "--quiet", *request]
        environment = self.scene.environment | {"PATH": f"{self.programs}:{os.environ['PATH']}"}
        for name, value in self.scene.environment.items():
            words += ["-e", f"{name}={value}"]
        return subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def ask(self, *request, flags=()):
        """The result of a request that must succeed."""
        ran = self.run(flags, *request)
        assert ran.returncode == 0, f"exit {ran.returncode}: {ran.stderr or ran.stdout}"
        answer = json.loads(ran.stdout)
        return answer.get("result", answer)

    def call(self, tool, arguments, flags=()):
        request = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
        return self.ask(*request, flags=flags)


def text_of(result):
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def list_tools(scene, inspector):
    """`--strict` reports what is wrong with a schema for some client, and fails when it is an error."""
    ran = inspector.run([], "--method", "tools/list", "--strict")
    assert ran.returncode == 0, f"exit {ran.returncode}: {ran.stderr}"
    answer = json.loads(ran.stdout)
    names = [tool["name"] for tool in answer.get("result", answer)["tools"]]
    assert {"read_file", "bash"} <= set(names), names
    return ran.stderr.strip() or f"{len(names)} tools"


def call(scene, inspector):
    scene.file("notes.txt", "first\n")
    assert "first" in text_of(inspector.call("read_file", {"path": "notes.txt"}))
    inspector.call("write_file", {"path": "made.txt", "content": "made\n"}, flags=["--yes"])
    assert scene.read("made.txt") == "made\n"
    assert "made" in text_of(inspector.call("bash", {"command": "cat made.txt"}, flags=["--yes"]))


def failed_call(scene, inspector):
    """The inspector says with its status 5 that a tool failed, and shows the result."""
    ran = inspector.run([], "--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=nowhere.txt")
    assert ran.returncode == 5, f"exit {ran.returncode}: {ran.stderr}"
    assert "nowhere.txt" in ran.stdout, ran.stdout


def resources(scene, inspector):
    inspector.call("write_file", {"path": "made.txt", "content": "made\n"}, flags=["--yes"])
    uris = [resource["uri"] for resource in inspector.ask("--method", "resources/list")["resources"]]
    assert "haft://log" in uris, uris
    log = inspector.ask("--method", "resources/read", "--uri", "haft://log")
    assert "made.txt" in log["contents"][0]["text"], log
    assert inspector.ask("--method", "resources/templates/list")["resourceTemplates"]


def load(scene, inspector):
    scene.file("notes.txt", "first\n")
    request = ["--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=notes.txt"]
    summary = inspector.ask(*request, "--load", "--load-requests", "2000", "--load-concurrency", "40")
    assert summary["ok"] == 2000, summary
    return f"{summary['throughput']:.0f} a second, p50 {summary['latencyMs']['p50']} ms"


CHECKS = [
    ("the list has no schema that a client would refuse", list_tools),
    ("tools read, write and run", call),
    ("a failed tool is a result with advice", failed_call),
    ("resources are listed and read", resources),
    ("2,000 calls, 40 at a time", load),
]


def main(haft, folder):
    report = Report("inspector")
    for era in ERAS:
        for name, body in CHECKS:
            with Scene(haft) as scene:
                report.check(f"{era}: {name}", lambda: body(scene, Inspector(folder, scene, era)))
    return report.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
