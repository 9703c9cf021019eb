"""Serves haft's snippets of Python: one JSON object per line on descriptor 3.

What a snippet prints, and the value of its last expression, go to its output; a traceback goes to its errors. Python
3.8 or later, standard library only.
"""

import ast
import asyncio
import base64
import builtins
import fcntl
import inspect
import io
import json
import linecache
import os
import sys
import traceback

MOST_ROWS = 50
MOST_IMAGES = 9
PROCESS = os.getpid()


class Shown:
    """The images and tables of one snippet."""

    def __init__(self):
        self.images = []
        self.tables = []

    def image(self, data):
        if isinstance(data, bytes) and len(self.images) < MOST_IMAGES:
            self.images.append(base64.b64encode(data).decode("ascii"))

    def table(self, columns, rows, count):
        plain = [[cell(value) for value in row] for row in rows]
        self.tables.append({"columns": [str(column) for column in columns], "rows": plain, "all_rows": count})


def cell(value):
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value == value and value not in (float("inf"), float("-inf")) else str(value)
    return str(value)


shown = Shown()


def display(value):
    """Shows a value: an image as an image, a table as a table, anything else as text."""
    if value is None:
        return
    if show_image(value):
        return
    module = type(value).__module__.split(".")[0]
    try:
        if module == "pandas" and type(value).__name__ == "DataFrame":
            head = value.head(MOST_ROWS)
            shown.table(head.columns, head.itertuples(index=False), len(value))
            print(value.to_string(max_rows=20, max_cols=20))
            return
        if module == "polars" and type(value).__name__ == "DataFrame":
            shown.table(value.columns, value.head(MOST_ROWS).rows(), value.height)
    except Exception:
        pass
    print(repr(value))


def show_image(value):
    for name in ("_repr_png_", "_repr_jpeg_"):
        method = getattr(type(value), name, None)
        data = method(value) if method else None
        if isinstance(data, bytes):
            shown.image(data)
            return True
    if type(value).__module__.startswith("matplotlib") and hasattr(value, "savefig"):
        shown.image(drawn(value))
        plots = sys.modules.get("matplotlib.pyplot")
        if plots:
            plots.close(value)
        return True
    return False


def drawn(figure):
    data = io.BytesIO()
    figure.savefig(data, format="png", bbox_inches="tight")
    return data.getvalue()


def show_figures():
    """Shows the figures that a snippet has drawn and not shown."""
    plots = sys.modules.get("matplotlib.pyplot")
    if plots is None:
        return
    for number in plots.get_fignums():
        shown.image(drawn(plots.figure(number)))
    plots.close("all")


class Snippets:
    def __init__(self):
        self.names = {"__name__": "__main__", "__builtins__": builtins, "display": display}
        self.loop = asyncio.new_event_loop()
        self.count = 0

    def run(self, code):
        self.count += 1
        name = "<snippet %d>" % self.count
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        try:
            body = ast.parse(code, name).body
            last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
            self.evaluate(ast.Module(body, []), name, "exec")
            if last is not None:
                value = self.evaluate(ast.Expression(last.value), name, "eval")
                if value is not None:
                    self.names["_"] = value
                display(value)
            show_figures()
            return 0
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException as error:
            self.tell(error)
            return 1

    def evaluate(self, tree, name, mode):
        code = compile(tree, name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        value = eval(code, self.names)
        if code.co_flags & inspect.CO_COROUTINE:
            value = self.loop.run_until_complete(value)
        return value

    def tell(self, error):
        frames = error.__traceback__
        # The frames of this file say nothing about the snippet.
        while frames is not None and frames.tb_frame.f_code.co_filename == "<string>":
            frames = frames.tb_next
        sys.stderr.write("".join(traceback.format_exception(type(error), error, frames)))


def main():
    global shown
    # Away from 3, and closed in whatever a snippet starts.
    line = fcntl.fcntl(3, fcntl.F_DUPFD_CLOEXEC, 100)
    os.close(3)
    orders = open(line, "rb", buffering=65536)
    sys.stdin = open(os.devnull)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    snippets = Snippets()
    folder = None
    while True:
        order = orders.readline()
        if not order:
            return
        order = json.loads(order)
        is_first = snippets.count == 0
        if is_first:
            sys.path.insert(0, order["folder"])
        # The folder is another one for every snippet, although its path stays the same.
        try:
            os.chdir(folder or order["folder"])
        except OSError:
            os.chdir(order["folder"])
        shown = Shown()
        status = snippets.run(order["code"])
        if os.getpid() != PROCESS:
            # The snippet has made a copy of the process, and the copy has come back, too.
            os._exit(0)
        folder = os.getcwd()
        os.chdir("/")
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        answer = {"call": order["call"], "status": status, "first": is_first}
        answer.update(images=shown.images, tables=shown.tables)
        rest = memoryview(json.dumps(answer).encode("ascii") + b"\n")
        while rest:
            rest = rest[os.write(line, rest) :]


main()
