"""Plays official_sdks.yaml through the official SDKs, to see that they take what the scripted model says.

By hand, when the forms of the scripted model change:

    pip install anthropic openai google-genai
    cargo build -p haft-testkit --bin scripted-model
    python crates/haft-testkit/by_hand/official_sdks.py target/debug/scripted-model
"""

import json
import pathlib
import subprocess
import sys
import warnings

import anthropic
import openai
from google import genai
from google.genai import types

warnings.simplefilter("ignore")
SCRIPT = pathlib.Path(__file__).with_suffix(".yaml")
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
NAMES = ["read_file", "list_dir"]
ANSWERS = ["one", "two", "three"]
WANTED = [("read_file", {"path": "a.txt"}), ("read_file", {"path": "b ü.txt", "limit": 3}), ("list_dir", {})]
TEXT = "I look at both files. ÄÖÜ 🦀"
THOUGHT = "I should look at both files before I say anything."


def same(got, wanted):
    assert got == wanted, f"\ngot    {got!r}\nwanted {wanted!r}"


def by_anthropic(urls, streamed):
    client = anthropic.Anthropic(base_url=urls["anthropic"], api_key="k", max_retries=5)
    tools = [{"name": name, "input_schema": SCHEMA} for name in NAMES]
    messages = [{"role": "user", "content": "go"}]

    def ask():
        given = dict(model="m", max_tokens=2000, messages=messages, tools=tools,
                     thinking={"type": "enabled", "budget_tokens": 1024})
        if not streamed:
            return client.messages.create(**given)
        with client.messages.stream(**given) as stream:
            return stream.get_final_message()

    reply = ask()
    same([block.type for block in reply.content], ["thinking", "text", "tool_use", "tool_use", "tool_use"])
    same(reply.content[0].thinking, THOUGHT)
    assert reply.content[0].signature
    same(reply.content[1].text, TEXT)
    calls = reply.content[2:]
    same([(call.name, call.input) for call in calls], WANTED)
    same(reply.stop_reason, "tool_use")
    usage = reply.usage
    same((usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens, usage.output_tokens),
         (300, 600, 100, 50))
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": answer}
               for call, answer in zip(calls, ANSWERS)]
    messages += [{"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in reply.content]},
                 {"role": "user", "content": results}]
    for block in messages[1]["content"]:
        block.pop("parsed_output", None)
    reply = ask()
    same((reply.content[0].text, reply.stop_reason), ("Both are there.", "end_turn"))
    messages += [{"role": "assistant", "content": "x"}, {"role": "user", "content": "more"}]
    same(ask().stop_reason, "max_tokens")
    same(ask().stop_reason, "refusal")


def by_chat(urls, streamed):
    client = openai.OpenAI(base_url=urls["chat"], api_key="k", max_retries=5)
    tools = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in NAMES]
    messages = [{"role": "system", "content": "be good"}, {"role": "user", "content": "go"}]

    def ask():
        if not streamed:
            done = client.chat.completions.create(model="m", messages=messages, tools=tools)
        else:
            options = {"include_usage": True}
            with client.chat.completions.stream(model="m", messages=messages, tools=tools,
                                                stream_options=options) as stream:
                try:
                    done = stream.get_final_completion()
                except openai.LengthFinishReasonError as error:
                    done = error.completion
        return done, done.choices[0]

    done, choice = ask()
    same(choice.message.content, TEXT)
    same(choice.message.reasoning_content, THOUGHT)
    calls = choice.message.tool_calls
    same([(call.function.name, json.loads(call.function.arguments or "{}")) for call in calls], WANTED)
    same((choice.finish_reason, done.usage.prompt_tokens, done.usage.prompt_tokens_details.cached_tokens),
         ("tool_calls", 1000, 600))
    said = [{"id": call.id, "type": "function",
             "function": {"name": call.function.name, "arguments": call.function.arguments}} for call in calls]
    messages.append({"role": "assistant", "content": choice.message.content, "tool_calls": said})
    messages += [{"role": "tool", "tool_call_id": call.id, "content": answer} for call, answer in zip(calls, ANSWERS)]
    choice = ask()[1]
    same((choice.message.content, choice.finish_reason), ("Both are there.", "stop"))
    messages += [{"role": "assistant", "content": "x"}, {"role": "user", "content": "more"}]
    same(ask()[1].finish_reason, "length")
    same(ask()[1].message.refusal, "I do not do that.")


def by_responses(urls, streamed):
    client = openai.OpenAI(base_url=urls["responses"], api_key="k", max_retries=5)
    tools = [{"type": "function", "name": name, "parameters": SCHEMA, "strict": False} for name in NAMES]
    items = [{"role": "user", "content": "go"}]

    def ask():
        given = dict(model="m", instructions="be good", input=items, tools=tools, store=False,
                     include=["reasoning.encrypted_content"])
        if not streamed:
            return client.responses.create(**given)
        last, kinds = None, []
        for event in client.responses.create(stream=True, **given):
            kinds.append(event.type)
            assert type(event).__name__.startswith("Response"), event
            type(event).model_validate(event.model_dump(by_alias=True), strict=False)
            if event.type in ("response.completed", "response.incomplete"):
                last = event.response
        same(kinds[:2], ["response.created", "response.in_progress"])
        return last

    reply = ask()
    same([item.type for item in reply.output], ["reasoning", "message"] + ["function_call"] * 3)
    same(reply.output[0].summary[0].text, THOUGHT)
    same(reply.output_text, TEXT)
    calls = reply.output[2:]
    same([(call.name, json.loads(call.arguments or "{}")) for call in calls], WANTED)
    same((reply.usage.input_tokens, reply.usage.input_tokens_details.cached_tokens), (1000, 600))
    items.extend(item.model_dump(exclude_none=True) for item in reply.output)
    items.extend({"type": "function_call_output", "call_id": call.call_id, "output": answer}
                 for call, answer in zip(calls, ANSWERS))
    reply = ask()
    same((reply.output_text, reply.status), ("Both are there.", "completed"))
    items.extend([{"role": "assistant", "content": "x"}, {"role": "user", "content": "more"}])
    reply = ask()
    same((reply.status, reply.incomplete_details.reason), ("incomplete", "max_output_tokens"))
    same(ask().output[0].content[0].refusal, "I do not do that.")


def by_gemini(urls, streamed):
    retries = types.HttpRetryOptions(attempts=6, initial_delay=0.01, max_delay=0.02,
                                     http_status_codes=[429, 500, 503, 529])
    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=urls["gemini"], retry_options=retries))
    declared = [types.FunctionDeclaration(name=name, parameters_json_schema=SCHEMA) for name in NAMES]
    config = types.GenerateContentConfig(
        system_instruction="be good", tools=[types.Tool(function_declarations=declared)],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True))
    contents = [types.Content(role="user", parts=[types.Part(text="go")])]

    def ask():
        for _ in range(3):
            try:
                if not streamed:
                    chunks = [client.models.generate_content(model="m", contents=contents, config=config)]
                else:
                    chunks = list(client.models.generate_content_stream(model="m", contents=contents, config=config))
                break
            except Exception as error:  # The SDK does not try again after a cut.
                if "isconnected" not in repr(error):
                    raise
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
        return parts, chunks[-1]

    def text(parts, thought):
        return "".join(part.text for part in parts if part.text and bool(part.thought) == thought)

    parts, last = ask()
    same((text(parts, False), text(parts, True)), (TEXT, THOUGHT))
    calls = [part for part in parts if part.function_call]
    same([(part.function_call.name, part.function_call.args) for part in calls], WANTED)
    assert calls[0].thought_signature
    same((last.usage_metadata.prompt_token_count, last.candidates[0].finish_reason.value), (1000, "STOP"))
    contents.append(types.Content(role="model", parts=calls))
    contents.append(types.Content(role="user", parts=[
        types.Part.from_function_response(name=part.function_call.name, response={"output": answer})
        for part, answer in zip(calls, ANSWERS)]))
    parts, last = ask()
    same((text(parts, False), last.candidates[0].finish_reason.value), ("Both are there.", "STOP"))
    contents.append(types.Content(role="model", parts=[types.Part(text="x")]))
    contents.append(types.Content(role="user", parts=[types.Part(text="more")]))
    same(ask()[1].candidates[0].finish_reason.value, "MAX_TOKENS")
    same(ask()[1].candidates[0].finish_reason.value, "SAFETY")


def main(program):
    for play in (by_anthropic, by_chat, by_responses, by_gemini):
        for streamed in (True, False):
            server = subprocess.Popen([program, str(SCRIPT)], stdout=subprocess.PIPE, text=True)
            urls = dict(server.stdout.readline().split() for _ in range(4))
            try:
                play(urls, streamed)
            finally:
                server.terminate()
                status = server.wait()
            same(status, 0)
            print(f"ok: {play.__name__}, {'streamed' if streamed else 'whole'}")


if __name__ == "__main__":
    main(sys.argv[1])
