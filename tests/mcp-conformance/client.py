"""The client of the conformance scenarios: the program itself, used as a person at a terminal uses it.

Usage: client.py URL (the suite appends it); HAFT names the program.

A server is added, its tools are called, and when haft says that a login is needed, `haft mcp login` is run. This file is
the person: it agrees, fills in forms by taking their defaults, and opens the address of a login as a browser would.
Every command runs in a terminal of its own, because haft asks nobody without one.
"""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

HAFT = os.environ["HAFT"]
SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
SERVER = "suite"
PATIENCE_SECONDS = 25
# The document whose address the suite knows as the id of a client.
CLIENT_METADATA = "https://conformance-test.local/client-metadata.json"
# A person tries to log in again this often, and not if haft says that it changes nothing.
MOST_LOGINS = 3


def entry(url):
    """Returns the entry of the user's file."""
    login = []
    if "client_id" in CONTEXT:
        login += [f'client_id = "{CONTEXT["client_id"]}"', 'client_secret_env = "SUITE_SECRET"']
    elif SCENARIO in ("auth/basic-cimd", "auth/offline-access-scope"):
        login += [f'client_metadata = "{CLIENT_METADATA}"']
    lines = [f"[mcp.servers.{SERVER}]", f'url = "{url}"']
    return "\n".join(lines + ([f"oauth = {{ {', '.join(login)} }}"] if login else [])) + "\n"


class Person:
    """Somebody with a home, a workspace, a terminal and a browser."""

    def __init__(self, home):
        self.home = Path(home)
        (self.home / "workspace").mkdir()
        self.environment = {
            "HOME": home, "PATH": os.environ["PATH"], "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "5000",
            "SUITE_SECRET": CONTEXT.get("client_secret", ""),
        }

    def haft(self, *words):
        """Runs haft in a terminal and answers it; returns its status and everything that it showed."""
        print(f"$ haft {' '.join(words)}", file=sys.stderr)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.home / "workspace")
            os.execve(HAFT, [HAFT, *words], self.environment)
        shown, answered = "", 0
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece.decode(errors="replace")
            answered += self.answer(terminal, shown[answered:])
        else:
            os.kill(pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(terminal)
        print(shown, f"(status {status})", sep="\n", file=sys.stderr)
        return status, shown

    def answer(self, terminal, shown):
        """Answers the last question that is on the terminal; returns how much of what it shows is dealt with."""
        if found := re.search(r"Open this address in your browser:\s+(\S+)\s", shown):
            self.browse(found[1])
            return found.end()
        if found := re.search(r"y  yes   n  no\s*$", shown):
            os.write(terminal, b"y\n")
            return found.end()
        # Fields take their defaults, and only the last question sends the answers.
        if found := re.search(r"Type (.*)An empty line leaves it out\.\s+> $", shown, re.DOTALL):
            is_last = "Send these answers to the server?" in shown
            os.write(terminal, b"y\n" if is_last else b"\n")
            return found.end()
        return 0

    def browse(self, address):
        """Opens an address and goes where it leads, as a browser does; haft hears of it at its own port."""
        script = "import sys, urllib.request as u; u.build_opener(u.ProxyHandler({})).open(sys.argv[1], timeout=20).read()"
        subprocess.Popen([sys.executable, "-c", script, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def with_login(self, *words):
        """Runs haft, and logs in as long as it says that this helps."""
        for _ in range(MOST_LOGINS + 1):
            status, shown = self.haft(*words)
            if status == 0 or f"haft mcp login {SERVER}" not in shown:
                return status, shown
            status, shown = self.haft("mcp", "login", SERVER)
            # A server may want another login at once.
            if status != 0 and f"haft mcp login {SERVER}" not in shown:
                return status, shown
        return status, shown

    def tools(self):
        """Returns the tools of the server by the names that haft gives them."""
        run = subprocess.run(
            [HAFT, "tools", "--json"], env=self.environment, cwd=self.home / "workspace", capture_output=True, text=True
        )
        listed = json.loads(run.stdout)
        tools = listed["tools"] if isinstance(listed, dict) else listed
        return {tool["name"]: tool for tool in tools if tool["name"].startswith(f"{SERVER}__")}

    def reads_everything(self):
        """Reads all resources and prompts of the server."""
        _, listed = self.haft("call", "--yes=all", "list_mcp_resources", "{}")
        for uri in re.findall(rf"^{SERVER}  (\S+)  ", listed, re.MULTILINE):
            self.haft("call", "--yes=all", "read_mcp_resource", json.dumps({"server": SERVER, "uri": uri}))
        _, prompts = self.haft("mcp", "prompt", SERVER)
        for prompt in re.findall(r"^([\w-]+)  ", prompts, re.MULTILINE):
            self.haft("mcp", "prompt", SERVER, prompt)

    def call(self, tool, arguments):
        return self.with_login("call", "--yes=all", tool, json.dumps(arguments))


def arguments_of(tool):
    """Returns arguments that fit a schema."""
    schema = tool.get("input_schema") or tool.get("inputSchema") or {}
    samples = {"number": 2, "integer": 2, "boolean": True, "string": "text", "array": [], "object": {}}
    properties = schema.get("properties", {})
    return {name: samples.get(properties.get(name, {}).get("type"), "text") for name in schema.get("required", [])}


def main(url):
    with tempfile.TemporaryDirectory() as home:
        person = Person(home)
        config = person.home / ".config" / "haft"
        config.mkdir(parents=True)
        (config / "config.toml").write_text(entry(url))
        status, _ = person.with_login("mcp", "add", SERVER)
        if status != 0:
            return status
        tools = person.tools()
        if "toolCalls" in CONTEXT:
            wanted = {f"{SERVER}__{call['name']}": call["arguments"] for call in CONTEXT["toolCalls"]}
        else:
            wanted = {name: arguments_of(tool) for name, tool in tools.items()}
        for name, arguments in wanted.items():
            status, _ = person.call(name, arguments)
            if status != 0:
                return status
            if SCENARIO == "auth/authorization-server-migration":
                # The server changes where it logs users in after the first request with a key.
                status, _ = person.call(name, arguments)
        if SCENARIO == "http-standard-headers":
            person.reads_everything()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[-1]))
