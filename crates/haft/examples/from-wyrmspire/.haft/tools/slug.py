import re
from typing import Any, Dict

from core.types import ToolResult
from tool.bases import BaseTool, create_json_schema


class SlugTool(BaseTool):
    @property
    def name(self) -> str:
        return "slug"

    @property
    def description(self) -> str:
        return "Turn a title into the name of a page."

    @property
    def parameters(self) -> Dict[str, Any]:
        return create_json_schema(
            properties={
                "title": {
                    "type": "string",
                    "description": "The title",
                },
            },
            required=["title"],
        )

    async def execute(self, arguments: Dict[str, Any]) -> ToolResult:
        words = re.findall(r"[a-z0-9]+", arguments["title"].lower())
        if not words:
            return ToolResult(
                tool_call_id="",
                output="",
                error="the title has no letters",
                success=False,
            )
        return ToolResult(
            tool_call_id="",
            output="-".join(words),
            success=True,
        )
