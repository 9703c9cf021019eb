"""The official suite against the server and the client: one row for each scenario, and the exit status.

Usage: conformance.py HAFT SUITE [--server | --client] [REVISION…]

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

# How many scenarios each revision requires. Fewer would mean that the suite did not run them.
REQUIRED = {"server": {"2025-11-25": 30, "2026-07-28": 37}, "client": {"2025-11-25": 18, "2026-07-28": 32}}
# Every scenario has this check of the messages; it says nothing about the subject of the scenario.
OF_EVERY_SCENARIO = "wire-schema-valid"
PATIENCE_SECONDS = 1800
# What one scenario of the client may take, in milliseconds.
PATIENCE_FOR_CLIENT = "60000"
CLIENT = Path(__file__).with_name("client.py")


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


def conformance(suite, *arguments, **more):
    """Runs the suite; returns what it printed. Its own exit status also counts what is not required."""
    environment = os.environ | {"PATH": f"{suite}/node_modules/node/bin:{os.environ['PATH']}"} | more
    command = [f"{suite}/node_modules/.bin/conformance", *arguments]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    if not run.stdout.strip():
        raise SystemExit(f"the suite printed nothing:\n{run.stderr}")
    return run.stdout


def required(suite, side, revision):
    """Returns the names of the scenarios that the revision requires."""
    listed = conformance(suite, "list", f"--{side}", "--requirements", revision)
    section = listed.split(f"{side.capitalize()} scenarios", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^ {2}- (\S+)$", section, re.MULTILINE)


def results(folder, side):
    """Returns the checks of every scenario that was run."""
    found = {}
    for path in sorted(folder.rglob("checks.json")):
        name = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", str(path.parent.relative_to(folder)))
        found[name.removeprefix(f"{side}-")] = json.loads(path.read_text())
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


def run_server(haft, suite, revision):
    """Runs the scenarios of the server; returns the checks of each, and whether the server ended as it should."""
    with tempfile.TemporaryDirectory() as home:
        process, url = served(haft, Path(home))
        try:
            out = Path(home) / "results"
            conformance(suite, "server", "--url", url, "--requirements", revision, "--output-dir", str(out))
            found = results(out, "server")
        finally:
            process.terminate()
            status = process.wait(10)
    return found, status == 0


def run_client(haft, suite, revision):
    """Runs the scenarios of the client, each with a home of its own; returns the checks of each."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(os.environ.get("HAFT_CONFORMANCE_OUT", folder)) / revision
        command = f"{sys.executable} {CLIENT}"
        arguments = ["--command", command, "--requirements", revision, "--timeout", PATIENCE_FOR_CLIENT]
        conformance(suite, "client", *arguments, "--output-dir", str(out), HAFT=str(Path(haft).resolve()))
        return results(out, "client"), True


RUNS = {"server": run_server, "client": run_client}


def main(haft, suite, words):
    sides = [word.removeprefix("--") for word in words if word.startswith("--")] or list(RUNS)
    revisions = [word for word in words if not word.startswith("--")] or list(REQUIRED["server"])
    broken = 0
    for side in sides:
        for revision in revisions:
            if side not in RUNS or revision not in REQUIRED[side]:
                raise SystemExit(f'there is no "{side}" or no revision "{revision}"; there are {", ".join(REQUIRED["server"])}')
            names = required(suite, side, revision)
            found, has_ended_well = RUNS[side](haft, suite, revision)
            failed = rows(f"{side}, {revision}", names, found)
            print(f"{side}, {revision}: {len(names) - failed} of {len(names)} required scenarios passed, {failed} failed")
            complete = len(names) >= REQUIRED[side][revision] and has_ended_well
            if not complete:
                print(f"{len(names)} required scenarios are listed, {REQUIRED[side][revision]} expected")
            broken += failed + (not complete)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
