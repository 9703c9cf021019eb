"""Checks lowered tool lists against the types of the providers' official SDKs.

Usage: check.py DIR, where DIR holds openai.json, openai-strict.json, anthropic.json and gemini.json
as printed by the example `shapes` of haft-model. Prints one line per failure and a summary; the
exit status is 1 when something failed.

The SDKs do not look inside a JSON Schema (Google's does, in part), so this proves the form around
it. What is inside is held by the tests of haft-model.
"""

import json
import re
import sys
from pathlib import Path
from typing import get_type_hints

from anthropic.types import ToolParam
from google.genai import types as gemini
from openai.types.chat import ChatCompletionToolParam
from openai.types.shared_params import FunctionDefinition
from pydantic import TypeAdapter

SAFE_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
GEMINI_NAME = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$")
ANTHROPIC_KEY = re.compile(r"^[a-zA-Z0-9_.-]{1,64}$")


def refuse_unknown(value, typed_dict):
    """A TypedDict lets unknown keys pass; the services do not."""
    unknown = set(value) - set(get_type_hints(typed_dict))
    assert not unknown, f"unknown keys {sorted(unknown)}"


def check_openai(tool):
    TypeAdapter(ChatCompletionToolParam).validate_python(tool)
    refuse_unknown(tool, ChatCompletionToolParam)
    refuse_unknown(tool["function"], FunctionDefinition)
    assert SAFE_NAME.match(tool["function"]["name"]), "name"
    assert tool["function"]["parameters"]["type"] == "object", "root type"


def check_openai_strict(tool):
    check_openai(tool)
    assert tool["function"]["strict"] is True, "strict"
    check_closed(tool["function"]["parameters"])


def check_closed(schema):
    """Every object is closed and requires all its properties."""
    if schema.get("type") == "object":
        assert schema["additionalProperties"] is False, "additionalProperties"
        assert schema["required"] == list(schema["properties"]), "required"
    inner = list(schema.get("properties", {}).values()) + list(schema.get("$defs", {}).values())
    inner += schema.get("anyOf", [])
    inner += [schema["items"]] if "items" in schema else []
    for part in inner:
        check_closed(part)


def check_anthropic(tool):
    TypeAdapter(ToolParam).validate_python(tool)
    refuse_unknown(tool, ToolParam)
    assert SAFE_NAME.match(tool["name"]), "name"
    schema = tool["input_schema"]
    assert schema["type"] == "object", "root type"
    assert not {"anyOf", "oneOf", "allOf"} & set(schema), "union at the root"
    assert all(ANTHROPIC_KEY.match(key) for key in schema["properties"]), "property names"


def check_gemini(declaration):
    read = gemini.FunctionDeclaration.model_validate(declaration)
    assert read.parameters_json_schema == declaration["parametersJsonSchema"], "parametersJsonSchema"
    assert GEMINI_NAME.match(declaration["name"]), "name"
    gemini.JSONSchema.model_validate(without(declaration["parametersJsonSchema"], "prefixItems"))


def without(value, keyword):
    """The service documents `prefixItems`; the SDK's model of JSON Schema does not have it."""
    if isinstance(value, dict):
        return {key: without(inner, keyword) for key, inner in value.items() if key != keyword}
    if isinstance(value, list):
        return [without(inner, keyword) for inner in value]
    return value


def declarations(tools):
    for tool in tools:
        gemini.Tool.model_validate(tool)
    return [declaration for tool in tools for declaration in tool["functionDeclarations"]]


CHECKS = {
    "openai": (check_openai, list, lambda tool: tool["function"]["name"]),
    "openai-strict": (check_openai_strict, list, lambda tool: tool["function"]["name"]),
    "anthropic": (check_anthropic, list, lambda tool: tool["name"]),
    "gemini": (check_gemini, declarations, lambda tool: tool["name"]),
}


def main(folder):
    passed = failed = 0
    for provider, (check, unwrap, name) in CHECKS.items():
        tools = unwrap(json.loads((folder / f"{provider}.json").read_text()))
        for tool in tools:
            try:
                check(tool)
                passed += 1
            except Exception as error:  # the report wants every failure, whatever its type
                failed += 1
                print(f"{provider} {name(tool)}: {type(error).__name__}: {error}")
        if len({name(tool).lower() for tool in tools}) != len(tools):
            failed += 1
            print(f"{provider}: two tools have one name")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
