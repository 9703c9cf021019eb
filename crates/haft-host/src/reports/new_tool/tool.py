"""What the tool "{name}" does. haft calls the function below; nothing has to be installed."""


def {function}(text: str, unit: str = "words") -> dict:
    """Counts the words of a text, or its lines."""
    # What is returned is the result: anything that JSON has. What is printed goes to the log.
    # raise ValueError("say what is wrong, and what to do") makes the call fail with these words.
    count = len(text.splitlines()) if unit == "lines" else len(text.split())
    return {"unit": unit, "count": count}
