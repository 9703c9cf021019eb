"""The official suite against the server: one row for each scenario, and the exit status.

Usage: conformance.py HAFT SUITE [REVISION…]

A scenario has passed when at least one of its checks about its subject succeeded and none failed. The suite itself ticks
a scenario in which nothing was checked; here that is a failure. Scenarios that a revision does not require are reported
and do not count.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# How many server scenarios each revision requires. Fewer would mean that the suite did not run them.
REQUIRED = {"2025-11-25": 30, "2026-07-28": 37}
# Every scenario has this check of the messages; it says nothing about the subject of the scenario.
OF_EVERY_SCENARIO = "wire-schema-valid"
PATIENCE_SECONDS = 600


def served(haft, home):
    """Starts the server; returns its process and address."""
    workspace = home / "workspace"
    workspace.mkdir()
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    command = [haft, "mcp", "serve", "--fixture", "conformance", "--http", "127.0.0.1:0"]
    process = subprocess.Popen(command, cwd=workspace, env=environment, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if found := re.search(r"http://\S+", line):
            return process, found[0]
    raise SystemExit(f"the server did not start, status {process.wait()}")


def conformance(suite, *arguments):
    """Runs the suite; returns what it printed. Its own exit status also counts what is not required."""
    environment = os.environ | {"PATH": f"{suite}/node_modules/node/bin:{os.environ['PATH']}"}
    command = [f"{suite}/node_modules/.bin/conformance", *arguments]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    if not run.stdout.strip():
        raise SystemExit(f"the suite printed nothing:\n{run.stderr}")
    return run.stdout


def required(suite, revision):
    """Returns the names of the server scenarios that the revision requires."""
    listed = conformance(suite, "list", "--server", "--requirements", revision)
    section = listed.split("Server scenarios", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^ {2}- (\S+)$", section, re.MULTILINE)


def results(folder):
    """Returns the checks of every scenario that was run."""
    found = {}
    for path in sorted(folder.glob("server-*/checks.json")):
        name = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", path.parent.name).removeprefix("server-")
        found[name] = json.loads(path.read_text())
    return found


def judged(checks):
    """Returns whether a scenario has passed, its numbers, and what is wrong."""
    about = [check for check in checks if check["id"] != OF_EVERY_SCENARIO]
    passed = sum(check["status"] == "SUCCESS" for check in about)
    wrong = [check for check in checks if check["status"] == "FAILURE"]
    warned = [check for check in checks if check["status"] == "WARNING"]
    words = [f"{check['id']}: {check.get('errorMessage') or 'no reason given'}" for check in wrong + warned]
    if not passed:
        words.append("nothing was checked")
    return bool(passed) and not wrong, f"{passed:4} {len(wrong):6} {len(warned):6}", words


def rows(revision, names, found):
    """Prints the table of a revision; returns how many required scenarios have failed."""
    print(f"\n{revision}\n{'':8}{'scenario':52}{'ok':>4} {'failed':>6} {'warned':>6}")
    failed = 0
    for name in names + [name for name in found if name not in names]:
        has_passed, numbers, words = judged(found.get(name, []))
        is_required = name in names
        failed += is_required and not has_passed
        mark = "ok" if has_passed else "FAILED" if is_required else "not"
        print(f"{mark:8}{name + ('' if is_required else ' (not required)'):52}{numbers}")
        for line in words if is_required else []:
            print(f"        {line[:300]}")
    return failed


def main(haft, suite, revisions):
    broken = 0
    for revision in revisions or REQUIRED:
        if revision not in REQUIRED:
            raise SystemExit(f'there is no revision "{revision}"; there are {", ".join(REQUIRED)}')
        names = required(suite, revision)
        with tempfile.TemporaryDirectory() as home:
            process, url = served(haft, Path(home))
            try:
                out = Path(home) / "results"
                conformance(suite, "server", "--url", url, "--requirements", revision, "--output-dir", str(out))
                found = results(out)
            finally:
                process.terminate()
                status = process.wait(10)
        failed = rows(revision, names, found)
        print(f"{revision}: {len(names) - failed} of {len(names)} required scenarios passed, {failed} failed")
        complete = len(names) >= REQUIRED[revision] and status == 0
        if not complete:
            print(f"{len(names)} required scenarios are listed, {REQUIRED[revision]} expected; server status {status}")
        broken += failed + (not complete)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
