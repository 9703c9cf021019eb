"""Serves haft's calls of Python functions, one after the other.

haft talks to it over descriptor 3, one JSON object per line. Descriptors 1 and 2 are a log: nothing that a function
prints can become a message. Python 3.8 or later, standard library only.
"""

import asyncio
import builtins
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import fcntl
import importlib
import importlib.machinery
import inspect
import json
import math
import os
import pathlib
import sys
import threading
import traceback
import types
import typing
import uuid

INJECTED = ("agent_state", "global_storage")
DEEPEST = 200
PAGE = 50
LONGEST_MESSAGE = 4000
LONGEST_TRACEBACK = 3500
PROCESS = os.getpid()


def written(message):
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


class Line:
    """The line to haft."""

    def __init__(self, descriptor):
        # Away from 3, and closed in whatever the function starts.
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 100)
        os.close(descriptor)
        self.reader = open(moved, "rb", buffering=65536)
        self.descriptor = moved

    def receive(self):
        line = self.reader.readline()
        return json.loads(line) if line else None

    def send(self, message):
        rest = memoryview(message)
        while rest:
            rest = rest[os.write(self.descriptor, rest) :]


class Refused(Exception):
    """Something that cannot be done, in words for the model."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


class StorageError(RuntimeError):
    """haft refused something at the storage of the session."""


class Asking:
    """Asks haft, while a call is served."""

    def __init__(self, line):
        self.line = line
        self.call = None
        # A function may have threads, and each waits for its own answer.
        self.one_at_a_time = threading.Lock()

    def ask(self, what, **more):
        with self.one_at_a_time:
            if self.call is None or os.getpid() != PROCESS:
                raise RuntimeError("haft answers only while the call runs, and only in the process that it called")
            self.line.send(written(dict(more, call=self.call, ask=what)))
            answer = self.line.receive()
        if answer is None:
            os._exit(0)
        if "error" in answer:
            raise StorageError(answer["error"])
        return answer.get("value")


class History(collections.abc.Sequence):
    """The messages of the conversation, fetched in pages when they are looked at."""

    def __init__(self, asking):
        self._asking = asking

    def __len__(self):
        return self._asking.ask("history.length")

    def _some(self, first, last):
        return self._asking.ask("history", first=first, last=last) if first < last else []

    def __getitem__(self, index):
        length = len(self)
        if isinstance(index, slice):
            chosen = range(length)[index]
            if not chosen:
                return []
            first = min(chosen[0], chosen[-1])
            some = self._some(first, max(chosen[0], chosen[-1]) + 1)
            return [some[at - first] for at in chosen]
        at = range(length)[index]
        return self._some(at, at + 1)[0]

    def __iter__(self):
        at, length = 0, len(self)
        while at < length:
            page = self._some(at, min(at + PAGE, length))
            if not page:
                return
            yield from page
            at += len(page)

    def __repr__(self):
        return "<history of %d messages>" % len(self)


class AgentState:
    """What a function may know of the agent that calls it."""

    def __init__(self, asking):
        self._asking = asking

    @property
    def current_iteration(self):
        return self._asking.ask("iteration")

    @property
    def history(self):
        return History(self._asking)

    @property
    def global_storage(self):
        return GlobalStorage(self._asking)

    def __getattr__(self, name):
        there_is = "current_iteration, history, global_storage"
        raise AttributeError("agent_state has no %r; there is: %s" % (name, there_is))


class Lock:
    """A lock of the session: `with global_storage.lock("name"):`."""

    def __init__(self, asking, name):
        self._asking = asking
        self._name = name

    def acquire(self):
        self._asking.ask("storage.lock", key=self._name)
        return True

    def release(self):
        self._asking.ask("storage.unlock", key=self._name)

    def __enter__(self):
        self.acquire()
        return self

    def __exit__(self, *_):
        self.release()


class GlobalStorage:
    """What the tools of one session keep for each other."""

    def __init__(self, asking):
        self._asking = asking

    def _key(self, key):
        if not isinstance(key, str):
            raise TypeError("a key of global_storage is text, not %s" % type(key).__name__)
        return key

    def _find(self, key):
        return self._asking.ask("storage.get", key=self._key(key))

    def get(self, key, default=None):
        found = self._find(key)
        return found[0] if found else default

    def set(self, key, value):
        self._asking.ask("storage.set", key=self._key(key), value=plain(value, "the value of %r" % key))

    def delete(self, key):
        return self._asking.ask("storage.delete", key=self._key(key))

    def keys(self):
        return self._asking.ask("storage.keys")

    def items(self):
        return [(key, found[0]) for key, found in ((key, self._find(key)) for key in self.keys()) if found]

    def update(self, values):
        for key, value in dict(values).items():
            self.set(key, value)

    def lock(self, name):
        return Lock(self._asking, self._key(name))

    lock_key = lock

    def __getitem__(self, key):
        found = self._find(key)
        if not found:
            raise KeyError(key)
        return found[0]

    def __setitem__(self, key, value):
        self.set(key, value)

    def __delitem__(self, key):
        if not self.delete(key):
            raise KeyError(key)

    def __contains__(self, key):
        return bool(self._find(key))

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.keys())


# What functions return, as JSON.


def plain(value, where, depth=0):
    """Makes a value fit for JSON, or says which part of it does not fit."""
    if value is None or value is True or value is False:
        return value
    if depth > DEEPEST:
        raise Refused("result", "%s is nested more than %d levels, or holds itself" % (where, DEEPEST))
    if isinstance(value, enum.Enum):
        return plain(value.value, where, depth + 1)
    if isinstance(value, str):
        return plain_text(str(value))
    if isinstance(value, int):
        return plain_integer(value, where)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        raise Refused("result", "%s is %s, which JSON cannot say; return null or a text instead" % (where, value))
    if isinstance(value, (bytes, bytearray, memoryview)):
        words = "%s is %s, which JSON cannot say; decode it, or write it to a file and return the path"
        raise Refused("result", words % (where, type(value).__name__))
    return plain_collection(value, where, depth + 1)


def plain_text(text):
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")


def plain_integer(value, where):
    if -(2**63) <= value < 2**64:
        return int(value)
    raise Refused("result", "%s is a whole number of more than 64 bits; return it as text" % where)


def plain_collection(value, where, depth):
    if hasattr(value, "_asdict") and isinstance(value, tuple):
        value = value._asdict()
    if isinstance(value, collections.abc.Mapping):
        return {plain_key(key, where): plain(item, "%s[%r]" % (where, key), depth) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        try:
            value = sorted(value)
        except TypeError:
            value = sorted(value, key=repr)
    if isinstance(value, (list, tuple, collections.deque, range)) or is_view(value):
        return [plain(item, "%s[%d]" % (where, at), depth) for at, item in enumerate(value)]
    return plain_object(value, where, depth)


def is_view(value):
    return isinstance(value, (collections.abc.KeysView, collections.abc.ValuesView, collections.abc.ItemsView))


def plain_key(key, where):
    if isinstance(key, enum.Enum):
        key = key.value
    if isinstance(key, str):
        return plain_text(str(key))
    if key is None or isinstance(key, (bool, int, float)):
        return json.dumps(key)
    if isinstance(key, (pathlib.PurePath, uuid.UUID, datetime.date, datetime.datetime)):
        return str(key)
    raise Refused("result", "a key of %s is %s, but keys of JSON are text" % (where, type(key).__name__))


def plain_object(value, where, depth):
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name), "%s.%s" % (where, name), depth) for name in fields}
    if is_model(type(value)):
        dumped = value.model_dump() if hasattr(value, "model_dump") else value.dict()
        return plain(dumped, where, depth)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (pathlib.PurePath, uuid.UUID, decimal.Decimal)):
        return str(value)
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        return plain(value.tolist(), where, depth)
    if inspect.isgenerator(value) or isinstance(value, collections.abc.Iterator):
        raise Refused("result", "%s is a %s; return a list instead" % (where, type(value).__name__))
    words = "%s is of type %s, which cannot be written as JSON; return text, numbers, lists or dicts"
    raise Refused("result", words % (where, type(value).__qualname__))


# What functions are given, by their annotations.


def is_model(kind):
    return isinstance(kind, type) and (hasattr(kind, "model_validate") or hasattr(kind, "parse_obj"))


def is_union(kind):
    return typing.get_origin(kind) is typing.Union or isinstance(kind, getattr(types, "UnionType", ()))


def built(kind, value, where):
    """Builds what an annotation asks for out of a JSON value."""
    if kind in (typing.Any, inspect.Parameter.empty, None) or isinstance(kind, (str, typing.TypeVar)):
        return value
    if is_union(kind):
        return built_union(kind, value, where)
    origin = typing.get_origin(kind)
    if origin is not None:
        return built_generic(kind, origin, value, where)
    if not isinstance(kind, type) or value is None:
        return value
    if issubclass(kind, enum.Enum):
        return built_enum(kind, value, where)
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        return built_dataclass(kind, value, where)
    if is_model(kind) and isinstance(value, dict):
        return kind.model_validate(value) if hasattr(kind, "model_validate") else kind.parse_obj(value)
    return built_plain(kind, value, where)


def built_union(kind, value, where):
    kinds = [one for one in typing.get_args(kind) if one is not type(None)]
    if value is None and len(kinds) < len(typing.get_args(kind)):
        return None
    fitting = [one for one in kinds if json_kinds(one) is None or json_kind(value) in json_kinds(one)]
    why = None
    for one in fitting or kinds:
        try:
            return built(one, value, where)
        except Exception as error:
            why = why or error
    if why is not None:
        raise why
    return value


def built_generic(kind, origin, value, where):
    inner = typing.get_args(kind)
    if getattr(kind, "__metadata__", None) is not None:
        return built(inner[0], value, where)
    if isinstance(value, dict) and isinstance(origin, type) and issubclass(dict, origin):
        item = inner[1] if len(inner) == 2 else typing.Any
        return {key: built(item, one, "%s[%r]" % (where, key)) for key, one in value.items()}
    if isinstance(value, list) and isinstance(origin, type) and issubclass(origin, collections.abc.Iterable):
        each = inner if origin is tuple and inner and inner[-1] is not Ellipsis else None
        item = inner[0] if inner else typing.Any
        kinds = each if each and len(each) == len(value) else [item] * len(value)
        items = [built(one, part, "%s[%d]" % (where, at)) for at, (one, part) in enumerate(zip(kinds, value))]
        return origin(items) if origin in (set, frozenset, tuple, collections.deque) else items
    return value


def built_enum(kind, value, where):
    for member in kind:
        if member.value == value and isinstance(member.value, bool) == isinstance(value, bool):
            return member
    if isinstance(value, str) and value in kind.__members__:
        return kind.__members__[value]
    there_are = ", ".join(repr(member.value) for member in kind)
    raise Refused("arguments", "%s is %r, but it is one of %s" % (where, value, there_are))


def built_dataclass(kind, value, where):
    hints = hints_of(kind)
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}
    unknown = [name for name in value if name not in fields]
    if unknown:
        raise Refused("arguments", "%s has no %r; there is: %s" % (where, unknown[0], ", ".join(fields)))
    given = {name: built(hints.get(name), one, "%s.%s" % (where, name)) for name, one in value.items()}
    none = dataclasses.MISSING
    is_needed = lambda field: field.default is none and field.default_factory is none
    missing = [name for name, field in fields.items() if name not in given and is_needed(field)]
    if missing:
        raise Refused("arguments", "%s lacks %s" % (where, ", ".join(repr(name) for name in missing)))
    return kind(**given)


def built_plain(kind, value, where):
    makers = {
        float: lambda one: float(one) if isinstance(one, int) and not isinstance(one, bool) else one,
        set: lambda one: set(one) if isinstance(one, list) else one,
        frozenset: lambda one: frozenset(one) if isinstance(one, list) else one,
        tuple: lambda one: tuple(one) if isinstance(one, list) else one,
        decimal.Decimal: lambda one: decimal.Decimal(str(one)),
        datetime.datetime: lambda one: datetime.datetime.fromisoformat(one.replace("Z", "+00:00")),
        datetime.date: datetime.date.fromisoformat,
        datetime.time: datetime.time.fromisoformat,
        uuid.UUID: uuid.UUID,
    }
    maker = makers.get(kind)
    if maker is None and issubclass(kind, pathlib.PurePath) and isinstance(value, str):
        maker = kind
    if maker is None:
        return value
    try:
        return maker(value)
    except (ValueError, TypeError, AttributeError, decimal.DecimalException) as error:
        words = "%s is %r, which is not a valid %s: %s"
        raise Refused("arguments", words % (where, value, kind.__name__, error)) from None


# What functions look like.


def hints_of(function):
    try:
        return typing.get_type_hints(function) if function else {}
    except Exception:
        # A name in an annotation may be known to nobody but a type checker.
        return dict(getattr(function, "__annotations__", {}))


def json_kind(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return {str: "string", list: "array", dict: "object"}[type(value)]


def json_kinds(kind):
    """Says which kinds of JSON values an annotation takes; None when it says nothing of them."""
    if is_union(kind):
        kinds = [json_kinds(one) for one in typing.get_args(kind)]
        return None if None in kinds else [one for some in kinds for one in some]
    if getattr(kind, "__metadata__", None) is not None:
        return json_kinds(typing.get_args(kind)[0])
    if typing.get_origin(kind) is getattr(typing, "Literal", object()):
        return [json_kind(one) for one in typing.get_args(kind) if type(one) in (str, int, bool, type(None))]
    kind = typing.get_origin(kind) or kind
    if kind is type(None) or kind is None:
        return ["null"]
    if not isinstance(kind, type):
        return None
    if issubclass(kind, enum.Enum):
        return sorted({json_kind(one.value) for one in kind if type(one.value) in (str, int, float, bool)}) or None
    if dataclasses.is_dataclass(kind) or is_model(kind):
        return ["object"]
    for bases, kinds in (
        ((bool,), ["boolean"]),
        ((int,), ["integer"]),
        ((float,), ["number", "integer"]),
        ((str, pathlib.PurePath, uuid.UUID, datetime.date, datetime.time), ["string"]),
        ((decimal.Decimal,), ["string", "number", "integer"]),
        ((dict, collections.abc.Mapping), ["object"]),
        ((list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Set), ["array"]),
    ):
        if issubclass(kind, bases):
            return kinds
    return None


class Function:
    """A function that was found, with what its signature says."""

    def __init__(self, module, name):
        self.function = find(module, name)
        self.hints = hints_of(self.function if inspect.isroutine(self.function) else None)
        try:
            self.parameters = list(inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):
            self.parameters = [inspect.Parameter("arguments", inspect.Parameter.VAR_KEYWORD)]
        self.injected = [one.name for one in self.parameters if one.name in INJECTED]

    def description(self):
        return {
            "parameters": [self.described(one) for one in self.parameters if one.name not in INJECTED],
            "injected": self.injected,
            "doc": inspect.getdoc(self.function) or "",
            "is_async": inspect.iscoroutinefunction(self.function),
        }

    def described(self, parameter):
        hint = self.hints.get(parameter.name)
        shown = parameter.annotation
        if shown is parameter.empty:
            shown = ""
        return {
            "name": parameter.name,
            "kind": parameter.kind.name.lower(),
            "is_required": parameter.default is parameter.empty,
            "annotation": shown if isinstance(shown, str) else inspect.formatannotation(shown),
            "takes": None if hint is None else json_kinds(hint),
        }

    def call(self, arguments, asking):
        rest = dict(arguments)
        positional, named = [], {}
        for one in self.parameters:
            if one.name == "agent_state":
                value = AgentState(asking)
            elif one.name == "global_storage":
                value = GlobalStorage(asking)
            elif one.kind is one.VAR_KEYWORD:
                named.update(rest)
                continue
            elif one.kind is one.VAR_POSITIONAL or one.name not in rest:
                continue
            else:
                value = built(self.hints.get(one.name), rest.pop(one.name), one.name)
            if one.kind is one.POSITIONAL_ONLY:
                positional.append(value)
            else:
                named[one.name] = value
        result = self.function(*positional, **named)
        return asyncio.run(awaited(result)) if inspect.isawaitable(result) else result


async def awaited(result):
    return await result


def find(module, name):
    try:
        found = importlib.import_module(module)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise NotThere("the module %r cannot be imported" % module, error) from error
    function = getattr(found, name, None)
    if not callable(function):
        public = [one for one, value in vars(found).items() if callable(value) and not one.startswith("_")]
        there_is = "; there is: %s" % ", ".join(public[:10]) if public else ""
        where = getattr(found, "__file__", None) or module
        raise NotThere("there is no function %r in %s%s" % (name, where, there_is), None)
    # A tool of another system may be a class.
    return tool_of_class(function) if inspect.isclass(function) and hasattr(function, "execute") else function


class NotThere(Exception):
    def __init__(self, what, cause):
        super().__init__(what if cause is None else "%s: %s" % (what, last_line(cause)))


# Serving.


def last_line(error):
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    # A syntax error is told with its place, over several lines: the last one says what it is.
    if isinstance(error, SyntaxError):
        text = "%s (%s, line %s)" % (text.splitlines()[-1], error.filename, error.lineno)
    return shortened(text, LONGEST_MESSAGE)


def shortened(text, most):
    return text if len(text) <= most else text[: most // 2] + " […] " + text[-most // 2 :]


def trace_of(error):
    # The first steps are of this file, which is nobody's matter.
    step = error.__traceback__
    while step is not None and step.tb_frame.f_code.co_filename == "<string>":
        step = step.tb_next
    lines = traceback.format_exception(type(error), error, step)
    return shortened(plain_text("".join(lines)), LONGEST_TRACEBACK)


def failure(error):
    if isinstance(error, Refused):
        return {"kind": error.kind, "message": plain_text(str(error)), "trace": ""}
    if isinstance(error, NotThere):
        return {"kind": "not_there", "message": plain_text(str(error)), "trace": trace_of(error.__cause__ or error)}
    if isinstance(error, SystemExit):
        message = "it ended with sys.exit(%r) instead of returning" % (error.code,)
        return {"kind": "raised", "message": shortened(plain_text(message), LONGEST_MESSAGE), "trace": trace_of(error)}
    kind = "memory" if isinstance(error, MemoryError) else "raised"
    exception = type(error).__name__
    told = {"kind": kind, "exception": exception, "message": plain_text(last_line(error)), "trace": trace_of(error)}
    told.update(own_words(error))
    return told


def own_words(error):
    """Returns what an exception says of its sort and of what to do; "suggested_fix" is TunaCode's name for it."""
    words = {}
    for name, attributes in (("error_type", ["error_type"]), ("suggestion", ["suggestion", "suggested_fix"])):
        for attribute in attributes:
            try:
                value = getattr(error, attribute, None)
            except Exception:
                value = None
            if isinstance(value, str) and value.strip() and name not in words:
                words[name] = shortened(plain_text(value), LONGEST_MESSAGE)
    if "error_type" not in words and isinstance(error, FileNotFoundError):
        words["error_type"] = "user_error"
    if "error_type" not in words and isinstance(error, PermissionError):
        words["error_type"] = "permission_error"
    return words


class Server:
    def __init__(self, line):
        self.line = line
        self.asking = Asking(line)
        self.functions = {}

    def function(self, order):
        key = (order["module"], order["function"])
        if key not in self.functions:
            self.functions[key] = Function(*key)
        return self.functions[key]

    def serve(self, order):
        # The folder is another one for every call, although its path stays the same.
        os.chdir(order["folder"])
        set_path(order["path"])
        set_code(order["path"], order["code"])
        if order["do"] == "describe":
            return {"description": self.function(order).description()}
        self.asking.call = order["call"]
        try:
            value = self.function(order).call(order["arguments"], self.asking)
            value = plain(value, "the result")
        finally:
            self.asking.call = None
        if isinstance(value, str):
            return {"text": value}
        return {"data": value}

    def answer(self, order):
        try:
            answer = written(dict(self.serve(order), call=order["call"]))
            if len(answer) > order["most"]:
                size, most = format(len(answer), ",d"), format(order["most"], ",d")
                words = "the result has %s bytes, but at most %s can be returned; write it to a file and return the path"
                raise Refused("result", words % (size, most))
            return answer
        except BaseException as error:
            # Whatever it is, it costs this call and nothing else.
            return written({"call": order["call"], "failed": failure(error)})

    def run(self):
        while True:
            order = self.line.receive()
            if order is None:
                return
            answer = self.answer(order)
            if os.getpid() != PROCESS:
                # The function has made a copy of the process, and the copy has come back, too.
                os._exit(0)
            flush()
            self.line.send(answer)


def set_path(folders):
    # Behind the standard library and site-packages: no folder can replace a module of theirs.
    if sys.path[-len(folders) :] != folders:
        sys.path[:] = [one for one in sys.path if one not in folders] + folders
        importlib.invalidate_caches()


class FreshLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from its source: what lies compiled beside it may be of somebody else."""

    def path_stats(self, path):
        raise OSError("compiled files are not used")


class TrustedFinder:
    """Finds modules of a project only where haft shows the trusted copy."""

    def __init__(self, folders, places):
        self.folders = [os.path.join(folder, "") for folder in folders]
        self.places = places
        self.environment = os.path.join(sys.prefix, "")

    def find_spec(self, name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or not spec.has_location:
            return spec
        file = os.path.realpath(spec.origin)
        if file.startswith(self.environment) or not any(file.startswith(folder) for folder in self.folders):
            return spec
        if not any(file == place or file.startswith(place + os.sep) for place in self.places):
            words = "%s is not in the copy of the project's code that \"haft trust\" made; trust it again"
            raise ImportError(words % os.path.basename(file), name=name)
        if type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = FreshLoader(spec.loader.name, spec.loader.path)
            spec.cached = None
        return spec


def set_code(folders, places):
    # All calls of one worker run the same copy.
    if places is None or any(isinstance(finder, TrustedFinder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(sys.meta_path.index(importlib.machinery.PathFinder), TrustedFinder(folders, places))


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def main():
    line = Line(3)
    sys.stdin = open(os.devnull)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    # NexAU's guide annotates with these names without importing them.
    for kind in (AgentState, GlobalStorage):
        if not hasattr(builtins, kind.__name__):
            setattr(builtins, kind.__name__, kind)
    # They annotate with these names.
    for name in ("agent_state", "agent_context"):
        kinds = {"AgentState": AgentState, "GlobalStorage": GlobalStorage}
        OtherSystems.MODULES["nexau.archs.main_sub." + name].update(kinds)
    sys.meta_path.append(OtherSystems())
    Server(line).run()


main()
