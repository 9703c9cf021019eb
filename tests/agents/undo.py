"""Lets real agents change and lose files with their own tools, and undoes all of it with haft.

The agents are set up by `haft setup AGENT --yes` and run in their default mode with a scripted model. After each session
`haft undo --session` must restore the whole tree (ignored and untracked files included) and what git says about it.

Usage: undo.py HAFT FOLDER [--verbose] [--kills=N] [AGENT…]
"""

import difflib
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from agents import Claude, Codex, Copilot, Gemini, Opencode
from model import ScriptedModel
from scene import LIMIT_SECONDS, Scene

# What a person of the agent's default has: Codex asks nobody in `exec`, and its usual sandbox lets it write.
MODES = {
    "claude": (Claude(), "default"),
    "codex": (Codex(), "exec --sandbox workspace-write"),
    "gemini": (Gemini(), "--yolo -p"),
    "copilot": (Copilot(), "--allow-all-tools -p"),
    "opencode": (Opencode(), "run"),
}
USUAL = ["claude", "codex"]

SAME = [
    "find . -printf '%y %m %p %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0 sha256sum",
    "git status --porcelain --ignored",
    "git log --all --oneline",
    "git reflog",
    "git stash list",
    "git ls-files --stage",
]

SETUP = """git init -q -b main .
git config user.email a@example.com; git config user.name A
mkdir -p src private docs
printf 'one\\ntwo\\n' > src/a; printf 'run\\n' > src/b; chmod +x src/b; ln -s src/a link
printf 'local.cfg\\nprivate/\\n' > .gitignore; printf '# title\\ntext\\n' > docs/guide.md
git add -A; git commit -qm 1
printf 'three\\n' >> src/a; git commit -qam 2; git branch side
printf 'days of work\\n' >> src/a
printf 'staged\\n' > src/staged; git add src/staged; printf 'and more\\n' >> src/staged
printf 'never added\\n' > notes.txt
printf 'mine\\n' > local.cfg; printf 'plan\\n' > private/plan.md
"""

# Each case is a list of steps: a command, or a call of the agent's own file tools.
OWN = {
    "write-over-untracked": [("write", "notes.txt", "gone\n")],
    "edit-then-commit": [("edit", "src/a", "two", "zwei"), ("shell", "git commit -qam work")],
    "new-files-and-rm": [("write", "docs/new.md", "new\n"), ("shell", "rm -rf private docs/guide.md")],
    "sed-in-place": [("shell", "sed -i 's/e/E/g' src/a src/staged notes.txt local.cfg")],
    "find-delete": [("shell", "find . -name '*.md' -not -path './.git/*' -delete")],
    "move-away": [("shell", "mv src old && mkdir src && echo x > src/a")],
    "git-clean": [("shell", "git clean -fdxq")],
    "truncate": [("shell", ": > notes.txt; truncate -s 0 src/staged; printf x >> local.cfg")],
    "modes-and-links": [("shell", "chmod 600 src/b; rm link; ln -s notes.txt link; chmod 700 private")],
    "branch-and-reflog": [("shell", "git branch -D side; git commit -qam x; git update-ref -d refs/heads/other || true")],
    "same-file-by-turns": [
        ("edit", "src/a", "one", "eins"),
        ("shell", "echo four >> src/a"),
        ("edit", "src/a", "eins", "uno"),
        ("shell", "tac src/a > t && mv t src/a"),
    ],
    "archive-and-remove": [("shell", "tar cf all.tar src private && rm -r src private")],
    "here-document": [("shell", "cat <<'EOF' > notes.txt\nit's \"$HOME\" `x`\nEOF\ncp notes.txt docs/copy.txt")],
    "checkout-other": [("write", "docs/other.md", "x\n"), ("shell", "git stash -qu && git checkout -q side && git stash drop -q")],
}


def cases():
    known = {name: (SETUP, steps, SAME) for name, steps in OWN.items()}
    more = os.environ.get("CASES")
    if more:
        for case in json.loads(Path(more).read_text()):
            known[case["id"]] = (case["setup"], [("shell", case["cmd"])], case["same"])
    return known


class Failure(Exception):
    """A case in which something was not restored; the text says what."""


def calls_of(agent, scene, steps):
    whole = lambda name: str(scene.workspace / name)
    calls = []
    read = set()
    for kind, first, *rest in steps:
        if kind == "shell":
            calls.append(agent.shell(first))
            # The agent wants to see a file again that a command has changed.
            read.clear()
            continue
        exists = (scene.workspace / first).exists()
        if exists and first not in read:
            calls += agent.reads(whole(first))
            read.add(first)
        if kind == "edit":
            calls.append(agent.edit(whole(first), *rest))
        elif exists and isinstance(agent, Copilot):
            # Its tool creates files, and no more.
            calls.append(agent.edit(whole(first), (scene.workspace / first).read_text().rstrip("\n"), rest[0].rstrip("\n")))
        elif exists and isinstance(agent, Codex):
            old = "".join(f"-{line}\n" for line in (scene.workspace / first).read_text().splitlines())
            new = "".join(f"+{line}\n" for line in rest[0].splitlines())
            calls.append(agent.write(whole(first), rest[0]))
            calls[-1].arguments = f"*** Begin Patch\n*** Update File: {whole(first)}\n@@\n{old}{new}*** End Patch\n"
        else:
            calls.append(agent.write(whole(first), rest[0]))
    return calls


def prepared(agent, scene, setup, port):
    """Lays the workspace out, and sets the agent up as a user does."""
    shell(scene, setup)
    scene.hook_lines = lambda _: "{}"
    agent.setup(scene, port, False)
    words = [str(scene.haft), "setup", agent.name, "--yes"]
    done = subprocess.run(
        words, cwd=scene.workspace, env=scene.environment, input="y\n", capture_output=True, text=True, timeout=60
    )
    if done.returncode:
        raise Failure(f"haft setup failed: {done.stderr}")


def shell(scene, text):
    done = subprocess.run(["bash", "-c", text], cwd=scene.workspace, env=scene.environment, capture_output=True, text=True)
    return done.stdout + done.stderr


def views(scene, same):
    return {command: shell(scene, command) for command in same}


def haft(scene, *words):
    done = subprocess.run(
        [str(scene.haft), *words], cwd=scene.workspace, env=scene.environment, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout + done.stderr


def compare(before, after, said):
    for command in before:
        # The index of git holds the times of files; `git ls-files --stage` and `git status` compare what it means.
        # opencode keeps a note of its own in `.git`. Codex makes mount points for its sandbox, and leaves them when it is killed.
        own = re.compile(r"  \./\.git/index$| \./\.git/opencode ?$|^d \d+ \./\.(agents|aws|codex) $")
        lines = lambda views: [line for line in views[command].splitlines() if not own.search(line)]
        old, new = lines(before), lines(after)
        # Undo never removes an object of git: another program may use it by now. No other line may differ.
        known = set(old)
        new = [line for line in new if line in known or not re.search(r"\.git/objects/", line)]
        if old != new:
            differences = "\n".join(difflib.unified_diff(old, new, "before", "after", n=0, lineterm=""))
            raise Failure(f"{command}\n{differences}\nhaft said:\n{said}")


def run_case(suite, agent, mode, case):
    setup, steps, same = case
    with Scene(suite.haft, suite.folder) as scene:
        with ScriptedModel([]) as model:
            prepared(agent, scene, setup, model.port)
            before = views(scene, same)
            model.calls = calls_of(agent, scene, steps)
            session = scene.session(agent.words(mode), agent.environment(scene, model.port))
        if suite.verbose:
            for call, result in zip(model.calls, model.results):
                print("call   ", call.tool, json.dumps(call.arguments)[:300], "\nresult ", result.strip()[:600])
        if session.code is None or len(model.results) < len(model.calls):
            raise Failure(f"it made {len(model.results)} of {len(model.calls)} calls: {session.output[-600:]}")
        changed = views(scene, same) != before
        log = haft(scene, "log")[1]
        said = haft(scene, "undo", "--session")[1] if changed else ""
        if suite.verbose:
            print(log, said)
        compare(before, views(scene, same), f"{log}\n{said}")
        if "end not seen" in log:
            raise Failure(f"an end was not seen: {log}")
        if not changed and not any("haft" in result for result in model.results):
            raise Failure(f"nothing changed, and haft did not refuse it: {model.results}")
        return "undone" if changed else "refused"


KILLED = [
    ("edit", "src/a", "one", "eins"),
    ("shell", "rm -r private; echo five >> src/a; sleep 0.2; echo six >> src/a"),
    ("write", "docs/new.md", "new\n"),
    ("shell", "git commit -qam work; sed -i 's/e/E/g' notes.txt local.cfg"),
    ("write", "docs/more.md", "more\n" * 1000),
    ("shell", "mv src old; sleep 0.2; mkdir src"),
]


def run_kill(suite, agent, mode, number):
    whom = ["agent", "haft", "both"][number % 3]
    with Scene(suite.haft, suite.folder) as scene:
        with ScriptedModel([]) as model:
            prepared(agent, scene, SETUP, model.port)
            before = views(scene, SAME)
            model.calls = calls_of(agent, scene, KILLED)
            end = threading.Event()
            killer = threading.Thread(target=kill_later, args=(scene, whom, suite.random.uniform(0.5, suite.lasts), end))
            killer.start()
            scene.session(agent.words(mode), agent.environment(scene, model.port))
            end.set()
            killer.join()
        wait_for_end(scene)
        code, log = haft(scene, "log")
        if code:
            raise Failure(f"the journal cannot be read: {log}")
        said = haft(scene, "undo", "--session")[1]
        compare(before, views(scene, SAME), f"killed {whom} after {len(model.results)} calls\n{log}\n{said}")
        return f"{whom} after {len(model.results)} calls"


def of_scene(scene):
    """The processes that belong to a scene, each with its program."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if f"HOME={scene.home}".encode() in (entry / "environ").read_bytes():
                found.append((int(entry.name), os.readlink(entry / "exe")))
        except OSError:
            pass
    return found


def kill_later(scene, whom, seconds, end):
    if end.wait(seconds):
        return
    for pid, program in of_scene(scene):
        is_haft = program == str(scene.haft)
        if whom == "both" or is_haft == (whom == "haft"):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def wait_for_end(scene):
    """Waits until haft has noticed that its agent is gone."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while of_scene(scene) and time.monotonic() < deadline:
        time.sleep(0.05)
    if of_scene(scene):
        raise Failure(f"these processes stay: {of_scene(scene)}")


class Suite:
    def __init__(self, haft, folder, flags):
        self.haft = haft
        self.folder = folder
        self.verbose = "--verbose" in flags
        self.kills = next((int(flag[8:]) for flag in flags if flag.startswith("--kills=")), 0)
        self.random = random.Random(1)
        self.lasts = 6.0
        self.failed = 0

    def run(self, name):
        agent, mode = MODES[name]
        with Scene(self.haft, self.folder) as scene:
            title = f"{name} {scene.version(agent.program)} {mode}"
        began = time.monotonic()
        if self.kills:
            ends = [self.report(f"{title}, kill {number}", run_kill, agent, mode, number) for number in range(self.kills)]
        else:
            ends = [self.report(f"{title}, {case}", run_case, agent, mode, what) for case, what in cases().items()]
        good = [end for end in ends if end]
        undone = sum(end == "undone" for end in good)
        what = f"{len(good)} of {len(ends)} restored" + ("" if self.kills else f" ({undone} undone, {len(good) - undone} refused)")
        print(f"{title}: {what}, {time.monotonic() - began:.0f} s", flush=True)

    def report(self, title, run, *arguments):
        try:
            end = run(self, *arguments)
        except Failure as failure:
            self.failed += 1
            print(f"FAILED  {title}: {failure}", flush=True)
            return None
        if self.verbose or self.kills:
            print(f"{title}: {end}", flush=True)
        return end


def main():
    flags = [word for word in sys.argv[1:] if word.startswith("--")]
    haft_program, folder, *wanted = [word for word in sys.argv[1:] if not word.startswith("--")]
    for flag in flags:
        if flag != "--verbose" and not flag.startswith("--kills="):
            sys.exit(f'there is no flag "{flag}"; there are --verbose and --kills=N')
    for name in wanted:
        if name not in MODES:
            sys.exit(f'there is no agent "{name}"; there are {", ".join(MODES)}')
    suite = Suite(haft_program, folder, flags)
    for name in wanted or USUAL:
        suite.run(name)
    return 1 if suite.failed else 0


if __name__ == "__main__":
    sys.exit(main())
