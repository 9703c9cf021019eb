"""Runs sessions of real agents with a scripted model and haft as their hook.

Usage: sessions.py HAFT FOLDER [--verbose] [--unguarded] [AGENT…]
"""

import json
import re
import sys

from agents import AGENTS
from model import ScriptedModel
from scene import LIMIT_SECONDS, Scene

# A file that is there, the text in it that the edit tool changes, and a new file of the same sort.
PROTECTED = [
    (".git/hooks/pre-commit", "#!/bin/sh", ".git/hooks/post-checkout"),
    (".git/config", "[core]", ".git/info/attributes"),
    (".claude/settings.json", "{}", ".claude/settings.local.json"),
    (".codex/config.toml", "# before", ".codex/hooks.json"),
    (".gemini/settings.json", "{}", ".gemini/commands/run.toml"),
    (".vscode/tasks.json", "{}", ".vscode/launch.json"),
    (".envrc", "# before", "inner/.envrc"),
    (".mcp.json", "{}", "inner/.mcp.json"),
    (".github/hooks/other.json", "{}", ".github/hooks/new.json"),
]
# An agent may refuse what is not JSON before it asks a hook.
PLANTED = {"{}": '{"env": {"PLANTED": "1"}}'}
ORDINARY = "ordinary.txt"
# A command removes it: haft asks, and whatever the agent makes of that, it must not wait for ever.
ASKED_ABOUT = "removed.txt"
# A command writes it that would write in .git/hooks if the agent's shell had stayed there; haft exec would refuse that.
STRAY = "pre-commit"
CONTENT = "words of the file"
ALLOW_ORDINARY = f"""[[rule]]
name = "the ordinary file"
decision = "allow"
path = "./{ORDINARY}"
"""
ALLOW_SUB_AGENTS = """[[rule]]
name = "sub-agents"
decision = "allow"
effect = "delegate"
"""
DENY_READING = """[[rule]]
name = "no reading by the server"
decision = "deny"
reason = "The test says so."
tool = "mcp__haft__read_file"
"""


class Failure(Exception):
    """A session that did not go as it should; the text says why."""


class Attempt:
    """One call of the script, and the protected name that it would write to (None for other calls)."""

    def __init__(self, call, name=None, path=None):
        self.call = call
        self.name = name
        self.path = path


class Suite:
    def __init__(self, haft, folder, flags):
        self.haft = haft
        self.folder = folder
        self.verbose = "--verbose" in flags
        self.guarded = "--unguarded" not in flags
        self.failed = 0

    def run(self, agent):
        for mode in agent.modes:
            self.report(agent, mode, self.nine_writes)
        if self.guarded:
            self.report(agent, agent.server_mode, self.own_server, ", haft as a server")
        if self.guarded and agent.delegate():
            self.report(agent, list(agent.modes)[-1], self.sub_agent, ", a sub-agent")

    def report(self, agent, mode, check, what=""):
        """Runs one session and prints its line."""
        with Scene(self.haft, self.folder) as scene:
            title = f"{agent.name} {scene.version(agent.program)} {mode}{what}"
            try:
                print(f"{title}: {check(agent, mode, scene)}", flush=True)
            except Failure as failure:
                self.failed += 1
                print(f"FAILED  {title}: {failure}", flush=True)

    def nine_writes(self, agent, mode, scene):
        scene.home_file(".config/haft/rules.toml", ALLOW_ORDINARY)
        for name, text, _ in PROTECTED:
            if name != ".git/config":
                scene.file(name, f"{text}\n")
        scene.file(ASKED_ABOUT, "x\n")
        attempts = script(agent, scene)
        model, session, changed = self.session(agent, mode, scene, attempts)
        written = changed & {path for name, _, new in PROTECTED for path in (name, new)}
        if not self.guarded:
            return f"{len(names_of(written))} of {len(PROTECTED)} written without haft, {session.seconds:.1f} s"
        unexplained = [] if mode in agent.writes_nothing else without_reason(agent, attempts, model, scene)
        bad = names_of(written) | {attempt.name for attempt in unexplained}
        if written:
            raise Failure(f"{len(PROTECTED) - len(bad)} of {len(PROTECTED)} stopped, written: {', '.join(sorted(written))}")
        if unexplained:
            calls = ", ".join(f"{attempt.call.tool} {attempt.path}" for attempt in unexplained)
            raise Failure(f"no reason of haft reached the model for {calls}")
        more = changed - {ORDINARY, ASKED_ABOUT, STRAY}
        if more:
            raise Failure(f"more was written: {', '.join(sorted(more))}")
        if ORDINARY not in changed and mode not in agent.writes_nothing:
            raise Failure(f"the ordinary write was not done: {model.results[:1]}")
        self.check_coverage(agent, model, scene)
        why = agent.writes_nothing.get(mode)
        ordinary = "ordinary write done" if ORDINARY in changed else f"ordinary write not possible ({why})"
        return f"{len(PROTECTED)} of {len(PROTECTED)} stopped, {ordinary}, {session.seconds:.1f} s"

    def own_server(self, agent, mode, scene):
        """haft judges its own tools once, and a rule about one of them holds in the hook, whatever the agent calls it."""
        scene.file("known.txt", f"{CONTENT}\n")
        attempts = [Attempt(call) for call in agent.server_tool("read_file", {"path": "known.txt"})]
        model, session, _ = self.session(agent, mode, scene, attempts, with_server=True)
        if CONTENT not in "\n".join(model.results):
            raise Failure(f"haft's own tool was not called: {model.results}")
        if not any("read_file" in event for event, _ in scene.events()):
            raise Failure("the agent did not ask the hook about haft's own tool")
        scene.forget_events()
        scene.home_file(".config/haft/rules.toml", DENY_READING)
        model, again, _ = self.session(agent, mode, scene, attempts, with_server=True)
        results = "\n".join(model.results)
        if CONTENT in results or "no reading by the server" not in results:
            raise Failure(f"the rule about mcp__haft__read_file did not hold: {model.results}")
        return f"not asked about twice, a rule about it holds, {session.seconds + again.seconds:.1f} s"

    def sub_agent(self, agent, mode, scene):
        """The calls of a sub-agent are judged like those of the agent itself."""
        scene.home_file(".config/haft/rules.toml", ALLOW_ORDINARY + ALLOW_SUB_AGENTS)
        whole = lambda name: str(scene.workspace / name)
        inner = [
            Attempt(agent.write(whole(ORDINARY), "ordinary\n")),
            Attempt(agent.write(whole(".mcp.json"), "{}\n"), ".mcp.json"),
            Attempt(agent.shell("echo planted >> .envrc"), ".envrc"),
        ]
        handed_on = [Attempt(call) for call in agent.delegate()]
        model, session, changed = self.session(agent, mode, scene, handed_on, inner=inner)
        results = model.results_of_sub_agent
        if changed - {ORDINARY}:
            raise Failure(f"a sub-agent wrote {', '.join(sorted(changed - {ORDINARY}))}")
        if len(results) < len(inner) or ORDINARY not in changed:
            raise Failure(f"the sub-agent did not do its task: {model.results} {results}")
        if not all("haft" in result for attempt, result in zip(inner, results) if attempt.name):
            raise Failure(f"no reason of haft reached the sub-agent: {results}")
        return f"2 of 2 stopped, ordinary write done, {session.seconds:.1f} s"

    def session(self, agent, mode, scene, attempts, with_server=False, inner=()):
        """Runs one session; returns the model, how it ended and which files of the workspace changed."""
        with ScriptedModel([attempt.call for attempt in attempts], [attempt.call for attempt in inner]) as model:
            agent.setup(scene, model.port, with_server)
            if not self.guarded:
                scene.remove_hook()
            before = scene.contents()
            session = scene.session(agent.words(mode), agent.environment(scene, model.port))
            after = scene.contents()
        if self.verbose:
            show(scene, model, attempts)
        if session.code is None:
            raise Failure(f"it hung: killed after {LIMIT_SECONDS} s, {len(model.results)} of {len(attempts)} calls made")
        if len(model.results) < len(attempts):
            end = session.output.strip()[-600:]
            raise Failure(f"only {len(model.results)} of {len(attempts)} calls were made (exit {session.code}): {end}")
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        return model, session, changed

    def check_coverage(self, agent, model, scene):
        """Every tool that the agent offers asks haft, or haft says that it does not."""
        matchers, not_covered = scene.coverage(agent.name)
        names = {name.rpartition("/")[2] for name in model.offered} - {"DeferredToolPlaceholder"}
        names = {agent.hook_names.get(name, name) for name in names}
        unknown = [
            name
            for name in sorted(names)
            if not any(re.search(matcher, name) for matcher in matchers)
            and not re.search(rf"\b{re.escape(name)}\b", not_covered)
        ]
        if unknown:
            raise Failure(f"these tools neither ask haft nor are listed as not covered: {', '.join(unknown)}")


def script(agent, scene):
    """The calls of a session: an ordinary write, and each protected name by each tool of the agent."""
    whole = lambda name: str(scene.workspace / name)
    attempts = [Attempt(agent.write(whole(ORDINARY), "ordinary\n")), Attempt(agent.shell(f"rm {ASKED_ABOUT}"))]
    for name, text, new in PROTECTED:
        planted = PLANTED.get(text, "planted")
        attempts += [Attempt(call) for call in agent.reads(whole(name))]
        attempts += [
            Attempt(agent.write(whole(new), f"{planted}\n"), name, whole(new)),
            Attempt(agent.edit(whole(name), text, planted), name, whole(name)),
            Attempt(agent.shell(f"echo planted >> {name}"), name, name),
        ]
    return attempts + [Attempt(call) for call in agent.detours(scene)]


def names_of(paths):
    """The rows of the table that these paths belong to."""
    return {name for name, _, new in PROTECTED if name in paths or new in paths}


def without_reason(agent, attempts, model, scene):
    """The attempts whose refusal does not carry haft's words.

    An agent that would ask a person says so in words of its own; then the question that it got from haft counts. A call
    that the agent refuses by itself, or of a tool that it does not offer, never gets as far as a hook.
    """
    asked = [event for event, answer in scene.events() if "haft" in answer]

    def has_reason(attempt, result):
        is_asked = any(json.dumps(attempt.path)[1:-1] in event for event in asked)
        is_own = agent.own_refusal is not None and agent.own_refusal in result
        return "haft" in result or is_asked or is_own or attempt.call.tool not in offered

    offered = {name.rpartition("/")[2] for name in model.offered}
    return [attempt for attempt, result in zip(attempts, model.results) if attempt.name and not has_reason(attempt, result)]


def show(scene, model, attempts):
    print("offered", ", ".join(sorted(model.offered)))
    for path in model.strange:
        print("unknown address", path)
    for event, answer in scene.events():
        print("event  ", event.strip())
        print("answer ", answer.strip())
    for attempt, result in zip(attempts, model.results):
        arguments = attempt.call.arguments
        print("call   ", attempt.call.tool, "(from the result before)" if callable(arguments) else json.dumps(arguments))
        print("result ", result.strip()[:1000])


def main():
    flags = [word for word in sys.argv[1:] if word.startswith("--")]
    haft, folder, *wanted = [word for word in sys.argv[1:] if not word.startswith("--")]
    names = sorted({agent.name for agent in AGENTS})
    for flag in flags:
        if flag not in ("--verbose", "--unguarded"):
            sys.exit(f"there is no flag \"{flag}\"; there are --verbose and --unguarded")
    for name in wanted:
        if name not in names:
            sys.exit(f"there is no agent \"{name}\"; there are {', '.join(names)}")
    suite = Suite(haft, folder, flags)
    for agent in AGENTS:
        if not wanted or agent.name in wanted:
            suite.run(agent)
    return 1 if suite.failed else 0


if __name__ == "__main__":
    sys.exit(main())
