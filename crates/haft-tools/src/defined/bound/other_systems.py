"""What files of tools import from the systems that they were written for, where that system is not installed.

TunaCode, wyrmspire/agent and NexAU describe tools in Python. Such a file works here unchanged: its decorators, base
classes, errors and results are these. It is a part of `worker.py` and comes before it.

Not here: agents, registries of running programs, and rules of those systems; haft has its own.
"""

import importlib.abc
import importlib.machinery
import inspect
import types


class ModelRetry(Exception):
    """TunaCode: the call was wrong, and the message says how to change it."""

    error_type = "validation_error"


class ToolExecutionError(Exception):
    """TunaCode: a tool failed."""

    def __init__(self, tool_name, message, original_error=None, suggested_fix=None, recovery_commands=None):
        super().__init__(message)
        self.tool_name = tool_name
        self.message = message
        self.original_error = original_error
        commands = ["run " + command for command in recovery_commands or []]
        self.suggested_fix = "; ".join([suggested_fix] * bool(suggested_fix) + commands)
        self.recovery_commands = recovery_commands


class FileOperationError(Exception):
    """TunaCode: something could not be done with a file."""

    error_type = "user_error"

    def __init__(self, operation, path, message, original_error=None):
        super().__init__("cannot %s %s: %s" % (operation, path, message))
        self.operation = operation
        self.path = path
        self.message = message
        self.original_error = original_error


def base_tool(function):
    """TunaCode: marks a function as a tool. haft records its calls and reports its errors anyway."""
    return function


def file_tool(function):
    """TunaCode: marks a function whose first parameter is a file."""
    first = next(iter(inspect.signature(function).parameters), None)
    if first != "filepath":
        raise TypeError("the first parameter of a file_tool is filepath, not %s" % first)
    return function


class ToolResult:
    """wyrmspire/agent: what a tool returns."""

    def __init__(self, tool_call_id="", output="", success=True, error=None):
        self.tool_call_id = tool_call_id
        self.output = output
        self.success = success
        self.error = error


class ToolCall:
    """wyrmspire/agent: a call of a tool."""

    def __init__(self, id, name, arguments):
        self.id = id
        self.name = name
        self.arguments = arguments


class ToolFailed(Exception):
    """A tool has returned a result that says that it failed."""


class BaseTool:
    """wyrmspire/agent: a tool as a class, with name, description and parameters."""

    async def execute(self, arguments):
        raise NotImplementedError("a tool has a method execute(arguments)")

    async def call(self, tool_call):
        result = await self.execute(tool_call.arguments)
        result.tool_call_id = tool_call.id
        return result


def create_json_schema(properties, required=None):
    """wyrmspire/agent: the schema of the arguments of a tool."""
    return {"type": "object", "properties": properties, "required": list(required or [])}


class ToolRegistry:
    """wyrmspire/agent: tools by their names."""

    def __init__(self):
        self.tools = {}

    def register(self, tool):
        if tool.name in self.tools:
            raise ValueError("there is a tool %r already" % tool.name)
        self.tools[tool.name] = tool

    def get(self, name):
        return self.tools.get(name)


def tool_of_class(kind):
    """Makes a function of a tool that is a class."""
    tool = kind()

    async def call(**arguments):
        result = tool.execute(arguments)
        return value_of(await result if inspect.isawaitable(result) else result)

    call.__doc__ = getattr(tool, "description", None)
    return call


def value_of(result):
    """Returns the value of a result, or fails where it says so."""
    if not hasattr(result, "success") or not hasattr(result, "output"):
        return result
    if not result.success:
        raise ToolFailed(result.error or "it says nothing of the reason")
    return result.output


class OtherSystems(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of other systems, after everything that is installed or lies in the project."""

    MODULES = {
        "tunacode": {},
        "tunacode.tools": {},
        "tunacode.tools.decorators": {"base_tool": base_tool, "file_tool": file_tool},
        "tunacode.exceptions": {
            "ToolExecutionError": ToolExecutionError,
            "FileOperationError": FileOperationError,
        },
        "pydantic_ai": {"ModelRetry": ModelRetry},
        "pydantic_ai.exceptions": {"ModelRetry": ModelRetry},
        "tool": {},
        "tool.bases": {"BaseTool": BaseTool, "create_json_schema": create_json_schema},
        "tool.index": {"ToolRegistry": ToolRegistry},
        "core": {},
        "core.types": {"ToolResult": ToolResult, "ToolCall": ToolCall},
        "nexau": {},
        "nexau.archs": {},
        "nexau.archs.main_sub": {},
        "nexau.archs.main_sub.agent_state": {},
        "nexau.archs.main_sub.agent_context": {},
    }

    def find_spec(self, name, path=None, target=None):
        if name not in self.MODULES:
            return None
        is_package = any(other.startswith(name + ".") for other in self.MODULES)
        return importlib.machinery.ModuleSpec(name, self, is_package=is_package)

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        vars(module).update(self.MODULES[module.__name__])

        def missing(name):
            words = "%s has no %r here; haft runs tools, and not the other parts of that system"
            raise AttributeError(words % (module.__name__, name))

        module.__getattr__ = missing


