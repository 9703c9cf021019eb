"""A server on its usual port is found without a word about it.

Usage: models.py HAFT

Port 8080 may belong to somebody else: then this says so and shows only what a base URL finds.
"""

import json
import socket
import sys

from asked import NAME, Server
from report import Report
from scene import Scene

USUAL_PORT = 8080


def is_free(port):
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False


def lists_it(scene, *words):
    people, programs = scene.haft("models", *words), scene.haft("models", "--json", *words)
    assert people.returncode == 0 and NAME in people.stdout, f"{people.stdout}{people.stderr}"
    assert programs.returncode == 0 and NAME in programs.stdout, f"{programs.stdout}{programs.stderr}"
    for line in programs.stdout.splitlines():
        json.loads(line)
    return next(line.strip() for line in people.stdout.splitlines() if NAME in line)


def is_taken_by_itself(scene):
    """The only model that there is needs no flag."""
    ran = scene.haft("run", "--json", "--max-steps", "1", "--max-tokens", "1", "Say hello.")
    first = json.loads(ran.stdout.splitlines()[0])
    assert (first["model"], first["base_url"]) == (NAME, f"http://127.0.0.1:{USUAL_PORT}/v1"), first
    return f"{first['model']} at {first['base_url']}"


def main(haft):
    report = Report("models")
    with Server() as server, Scene(haft) as scene:
        report.check("a base URL", lambda: lists_it(scene, "--base-url", server.base_url))
    if not is_free(USUAL_PORT):
        print(f"not shown  models: port {USUAL_PORT} is taken on this machine")
        return report.end()
    with Server(USUAL_PORT), Scene(haft) as scene:
        report.check("the usual port", lambda: lists_it(scene))
        report.check("the only model is taken", lambda: is_taken_by_itself(scene))
    return report.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
