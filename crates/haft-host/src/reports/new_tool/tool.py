"""What the tool "{name}" does. haft calls the function below. You do not have to install anything."""


def {function}(text: str, unit: str = "words") -> dict:
    """Counts the words of a text, or its lines."""
    # The return value is the result: anything that JSON can represent. Printed text goes to the log.
    # raise ValueError("say what is wrong, and what to do") makes the call fail with this message.
    count = len(text.splitlines()) if unit == "lines" else len(text.split())
    return {"unit": unit, "count": count}
