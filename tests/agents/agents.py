"""The agents: how each one is set up, started, and what it calls its own tools.

Settings are those that `docs/guide/in-your-agent.md` names; the lines of the hook come from `haft guard --print-config`.
Telemetry and updates are switched off by the settings that each agent documents for that.
"""

import json
import re

from model import PROMPT, Call

TASK = "Do what the other script says."


class Agent:
    """What is alike in all agents."""

    # The name of `--print-config`, the program, and the modes: name to words of the command line.
    name = ""
    program = ""
    modes = {}
    # Modes in which the agent itself lets no tool write, and why.
    writes_nothing = {}
    # How the agent refuses a call by itself, before it asks a hook.
    own_refusal = None
    # The mode in which haft is a server, too.
    server_mode = ""
    # Names that hooks get in place of the names that the model uses.
    hook_names = {}

    def environment(self, scene, port):
        return {}

    def setup(self, scene, port, with_server):
        """Writes the settings. With a server, haft is one beside the hook."""
        raise NotImplementedError

    def words(self, mode):
        raise NotImplementedError

    def reads(self, path):
        """What has to be read before the edit tool takes a file."""
        return []

    def detours(self, scene):
        """More ways to write to `.git/hooks/pre-commit` and `.envrc` that only this agent has, step by step."""
        return []

    def delegate(self):
        """The calls that hand the task on to a sub-agent and wait for it. None where the agent has no such tool."""
        return []

    def server_tool(self, tool, arguments):
        """The calls that use a tool of haft's own server."""
        raise NotImplementedError


class Claude(Agent):
    name = "claude"
    program = "claude"
    modes = {
        "default": ["--permission-mode", "default"],
        "acceptEdits": ["--permission-mode", "acceptEdits"],
        "bypassPermissions": ["--permission-mode", "bypassPermissions"],
    }
    server_mode = "default"

    def environment(self, scene, port):
        return {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            "ANTHROPIC_API_KEY": "scripted",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            # Claude Code refuses bypassPermissions to root, unless something else confines it.
            "IS_SANDBOX": "1",
        }

    def setup(self, scene, port, with_server):
        scene.home_file(".claude/settings.json", scene.hook_lines(self.name))
        if with_server:
            server = {"type": "stdio", "command": str(scene.haft), "args": ["mcp", "serve"]}
            scene.home_file(".claude.json", json.dumps({"mcpServers": {"haft": server}}))

    def words(self, mode):
        return [self.program, *self.modes[mode], "-p", PROMPT]

    def reads(self, path):
        return [Call("Read", {"file_path": path})]

    def write(self, path, text):
        return Call("Write", {"file_path": path, "content": text})

    def edit(self, path, old, new):
        return Call("Edit", {"file_path": path, "old_string": old, "new_string": new})

    def shell(self, command):
        return Call("Bash", {"command": command, "description": "Runs a command"})

    def detours(self, scene):
        # Its shell stays in the folder that a command went to.
        return [self.shell("cd .git/hooks"), self.shell("echo planted >> pre-commit")]

    def delegate(self):
        kind = {"subagent_type": "general-purpose", "run_in_background": False}
        return [Call("Agent", {"description": "Does the task", "prompt": TASK, **kind})]

    def server_tool(self, tool, arguments):
        name = f"mcp__haft__{tool}"
        return [Call("ToolSearch", {"query": f"select:{name}"}), Call(name, arguments)]


class Gemini(Agent):
    name = "gemini"
    program = "gemini"
    modes = {"-p": [], "--approval-mode auto_edit -p": ["--approval-mode", "auto_edit"], "--yolo -p": ["--yolo"]}
    writes_nothing = {"-p": "it offers no tool that writes"}
    own_refusal = "Path not in workspace"
    server_mode = "--yolo -p"

    def environment(self, scene, port):
        return {
            "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
            "GEMINI_API_KEY": "scripted",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        }

    def setup(self, scene, port, with_server):
        settings = json.loads(scene.hook_lines(self.name))
        settings["privacy"] = {"usageStatisticsEnabled": False}
        settings["general"] = {"enableAutoUpdate": False, "enableAutoUpdateNotification": False}
        settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
        if with_server:
            settings["mcpServers"] = {"haft": {"command": str(scene.haft), "args": ["mcp", "serve"], "timeout": 900000}}
        scene.home_file(".gemini/settings.json", json.dumps(settings))

    def words(self, mode):
        return [self.program, *self.modes[mode], "--model", "gemini-2.5-pro", "-p", PROMPT]

    def write(self, path, text):
        return Call("write_file", {"file_path": path, "content": text})

    def edit(self, path, old, new):
        what = {"instruction": "Change it.", "old_string": old, "new_string": new}
        return Call("replace", {"file_path": path, **what})

    def shell(self, command, **more):
        return Call("run_shell_command", {"command": command, "description": "Runs a command", **more})

    def detours(self, scene):
        return [
            self.shell("echo planted >> pre-commit", dir_path=".git/hooks"),
            self.shell("echo planted >> .envrc", is_background=True),
        ]

    def delegate(self):
        return [Call("invoke_agent", {"agent_name": "generalist", "prompt": TASK})]

    def server_tool(self, tool, arguments):
        return [Call(f"mcp_haft_{tool}", arguments)]


class Codex(Agent):
    """Codex with the tools that it gives to models without code mode."""

    model = "gpt-5.5"
    name = "codex"
    program = "codex"
    modes = {
        "exec": [],
        "exec --sandbox workspace-write": ["--sandbox", "workspace-write"],
        "exec --dangerously-bypass-approvals-and-sandbox": ["--dangerously-bypass-approvals-and-sandbox"],
    }

    writes_nothing = {"exec": "its sandbox is read-only"}
    server_mode = "exec --dangerously-bypass-approvals-and-sandbox"
    hook_names = {"exec_command": "Bash"}

    def environment(self, scene, port):
        return {"SCRIPTED_KEY": "scripted"}

    def setup(self, scene, port, with_server):
        lines = [
            f'model = "{self.model}"',
            'model_provider = "scripted"',
            "check_for_update_on_startup = false",
            "[analytics]",
            "enabled = false",
            "[feedback]",
            "enabled = false",
            "[model_providers.scripted]",
            'name = "scripted"',
            f'base_url = "http://127.0.0.1:{port}/v1"',
            'wire_api = "responses"',
            'env_key = "SCRIPTED_KEY"',
            "request_max_retries = 0",
            "stream_max_retries = 0",
        ]
        if with_server:
            haft = json.dumps(str(scene.haft))
            lines += ["[mcp_servers.haft]", f"command = {haft}", 'args = ["mcp", "serve"]', "tool_timeout_sec = 900"]
        scene.home_file(".codex/config.toml", "\n".join(lines) + "\n")
        scene.home_file(".codex/hooks.json", scene.hook_lines(self.name))

    def words(self, mode):
        # `/hooks` needs a person at a terminal; this flag is the documented way without one.
        return [self.program, "exec", *self.modes[mode], "--dangerously-bypass-hook-trust", PROMPT]

    @staticmethod
    def patch(path, text="planted"):
        added = "".join(f"+{line}\n" for line in text.splitlines())
        return f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"

    def write(self, path, text):
        return Call("apply_patch", Codex.patch(path, text))

    def edit(self, path, old, new):
        return Call(
            "apply_patch", f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"
        )

    def shell(self, command, **more):
        return Call("exec_command", {"cmd": command, **more})

    def detours(self, scene):
        typed = "echo planted >> .git/hooks/pre-commit\n"
        session = lambda result: int(re.search(r"session ID (\d+)", result + " session ID 0").group(1))
        return [
            self.shell("echo planted >> pre-commit", workdir=".git/hooks"),
            self.shell("echo planted >> pre-commit", workdir=str(scene.workspace / ".git/hooks"), login=False),
            self.shell("echo planted >> hooks/pre-commit", workdir="inner/../.git"),
            # Codex takes a patch out of a command and applies it itself.
            self.shell(in_shell(self.patch(".envrc"))),
            self.shell("cd .git/hooks && " + in_shell(self.patch("pre-push"))),
            self.shell("bash", tty=True, yield_time_ms=500),
            Call("write_stdin", lambda result: {"session_id": session(result), "chars": typed}),
        ]

    def server_tool(self, tool, arguments):
        return [Call(f"mcp__haft/{tool}", arguments)]


class CodexInCode(Codex):
    """Codex with the one tool that it gives to models with code mode: JavaScript that calls the other tools."""

    model = "gpt-6.1-sol"
    modes = {f"{mode}, in code": words for mode, words in Codex.modes.items()}
    writes_nothing = {f"{mode}, in code": why for mode, why in Codex.writes_nothing.items()}
    server_mode = f"{Codex.server_mode}, in code"

    def write(self, path, text):
        return in_code(super().write(path, text))

    def edit(self, path, old, new):
        return in_code(super().edit(path, old, new))

    def shell(self, command, **more):
        return in_code(super().shell(command, **more))

    def detours(self, scene):
        begun = 'const begun = await tools.exec_command({cmd: "bash", tty: true, yield_time_ms: 500})'
        typed = '{session_id: begun.session_id, chars: "echo planted >> .git/hooks/pre-commit\\n"}'
        shown = f"{begun}; text(JSON.stringify(await tools.write_stdin({typed})))"
        return [*super().detours(scene)[:-2], Call("exec", f"try {{ {shown} }} catch (error) {{ text(String(error)) }}")]

    def delegate(self):
        task = {"task_name": "task", "message": TASK, "fork_turns": "none"}
        return [Call("collaboration/spawn_agent", task), Call("collaboration/wait_agent", {"timeout_ms": 20000})]

    def server_tool(self, tool, arguments):
        return [in_code(Call(f"mcp__haft__{tool}", arguments))]


def in_shell(patch):
    """The command that applies a patch."""
    return f"apply_patch <<'EOF'\n{patch}EOF\n"


def in_code(call):
    """The JavaScript that makes a call and shows its result."""
    made = f"await tools.{call.tool}({json.dumps(call.arguments)})"
    return Call("exec", f"try {{ text(JSON.stringify({made})) }} catch (error) {{ text(String(error)) }}")


class Copilot(Agent):
    """Copilot CLI with the tools that it gives to Claude models."""

    name = "copilot"
    program = "copilot"
    modes = {"--allow-all-tools -p": ["--allow-all-tools"], "--yolo -p": ["--yolo"]}
    server_mode = "--allow-all-tools -p"
    provider = {"TYPE": "anthropic", "BASE_URL": ""}
    model = "claude-sonnet-4.5"

    def environment(self, scene, port):
        provider = {**self.provider, "API_KEY": "scripted"}
        provider["BASE_URL"] = f"http://127.0.0.1:{port}{provider['BASE_URL']}"
        return {f"COPILOT_PROVIDER_{key}": value for key, value in provider.items()} | {
            "COPILOT_MODEL": self.model,
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def setup(self, scene, port, with_server):
        scene.home_file(".copilot/hooks/haft.json", scene.hook_lines(self.name))
        if with_server:
            server = {"type": "local", "command": str(scene.haft), "args": ["mcp", "serve"], "tools": ["*"]}
            scene.home_file(".copilot/mcp-config.json", json.dumps({"mcpServers": {"haft": server}}))

    def words(self, mode):
        return [self.program, *self.modes[mode], "--no-auto-update", "-p", PROMPT]

    def write(self, path, text):
        return Call("create", {"path": path, "file_text": text})

    def edit(self, path, old, new):
        return Call("edit", {"path": path, "old_str": old, "new_str": new})

    def shell(self, command, **more):
        return Call("bash", {"command": command, "description": "Runs a command", **more})

    def detours(self, scene):
        # Its shell stays in the folder that a command went to.
        return [
            self.shell("cd .git/hooks", shellId="one"),
            self.shell("echo planted >> pre-commit", shellId="one"),
            self.shell("echo planted >> .envrc", mode="async"),
        ]

    def delegate(self):
        kind = {"agent_type": "general-purpose", "mode": "sync", "name": "task"}
        return [Call("task", {"description": "Does the task", "prompt": TASK, **kind})]

    def server_tool(self, tool, arguments):
        return [Call(f"haft-{tool}", arguments)]


class CopilotPatches(Copilot):
    """Copilot CLI with the tools that it gives to GPT models."""

    modes = {"--allow-all-tools -p, with patches": ["--allow-all-tools"]}
    server_mode = "--allow-all-tools -p, with patches"
    provider = {"TYPE": "openai", "BASE_URL": "/v1", "WIRE_API": "responses"}
    model = "gpt-5.2-codex"
    write = Codex.write
    edit = Codex.edit


class Opencode(Agent):
    """opencode, which asks haft by a plugin; only `undo` runs it."""

    name = "opencode"
    program = "opencode"
    modes = {"run": []}

    def environment(self, scene, port):
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}

    def setup(self, scene, port, with_server):
        provider = {"options": {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "scripted"}}
        model = "anthropic/claude-sonnet-4-5"
        settings = {"provider": {"anthropic": provider}, "model": model, "small_model": model}
        settings |= {"autoupdate": False, "share": "disabled"}
        scene.home_file(".config/opencode/opencode.json", json.dumps(settings))

    def words(self, mode):
        return [self.program, "run", PROMPT]

    def reads(self, path):
        return [Call("read", {"filePath": path})]

    def write(self, path, text):
        return Call("write", {"filePath": path, "content": text})

    def edit(self, path, old, new):
        return Call("edit", {"filePath": path, "oldString": old, "newString": new})

    def shell(self, command):
        return Call("bash", {"command": command, "description": "Runs a command"})


AGENTS = [Claude(), Codex(), CodexInCode(), Gemini(), Copilot(), CopilotPatches()]
