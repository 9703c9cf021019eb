"""One line for each check, and the exit status."""

import time
import traceback


class Report:
    def __init__(self, part):
        self.part = part
        self.passed = 0
        self.failed = []

    def check(self, name, body):
        """Runs a check; it has passed when nothing was raised. What it returns is printed beside it."""
        began = time.monotonic()
        try:
            note = body()
        except Exception as error:  # the report wants every failure, whatever its type
            self.fail(name, error)
        else:
            self.succeed(name, note, time.monotonic() - began)

    async def check_async(self, name, body):
        began = time.monotonic()
        try:
            note = await body
        except Exception as error:  # as above
            self.fail(name, error)
        else:
            self.succeed(name, note, time.monotonic() - began)

    def succeed(self, name, note, seconds):
        self.passed += 1
        print(f"ok      {self.part}: {name} ({seconds:.2f} s){': ' + note if note else ''}", flush=True)

    def fail(self, name, error):
        self.failed.append(name)
        print(f"FAILED  {self.part}: {name}: {why(error)}", flush=True)

    def end(self):
        """Prints the sum and returns the exit status. Nothing tried is nothing shown."""
        print(f"{self.part}: {self.passed} passed, {len(self.failed)} failed", flush=True)
        return 1 if self.failed or not self.passed else 0


def why(error):
    """The innermost reason, with the line of ours that found it."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    place = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in place if "site-packages" not in frame.filename]
    where = f" (line {ours[-1].lineno} of {ours[-1].filename.rpartition('/')[2]})" if ours else ""
    return f"{type(error).__name__}: {error}{where}"[:2000]
