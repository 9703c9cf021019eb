from pydantic_ai.exceptions import ModelRetry

from tunacode.exceptions import ToolExecutionError
from tunacode.tools.decorators import file_tool


@file_tool
async def line_count(filepath: str, unit: str = "lines") -> str:
    """Count the lines or words of a text file."""
    if unit not in ("lines", "words"):
        raise ModelRetry(f"There is no unit {unit!r}. Use lines or words.")
    with open(filepath, encoding="utf-8") as file:
        text = file.read()
    if not text:
        raise ToolExecutionError(
            tool_name="line_count",
            message=f"{filepath} is empty",
            suggested_fix="choose another file",
        )
    count = len(text.split()) if unit == "words" else len(text.splitlines())
    return f"{count} {unit}"
