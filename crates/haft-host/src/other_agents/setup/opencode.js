// haft judges each call before opencode makes it, runs commands in its sandbox, and records edits.
// "haft setup opencode --remove" removes this file.
import { spawnSync } from "node:child_process"

const command = HOOK_COMMAND

function ask(event) {
  const answer = spawnSync("sh", ["-c", command], { input: JSON.stringify(event), encoding: "utf8", timeout: 10000 })
  if (answer.status !== 0) throw new Error(`haft guard failed: ${answer.stderr || answer.error}`)
  return JSON.parse(answer.stdout)
}

export const Haft = async ({ directory }) => {
  const turns = {}
  const event = (name, input, args) => ({
    hook_event_name: name,
    session_id: input.sessionID,
    prompt_id: turns[input.sessionID],
    cwd: directory,
    tool_name: input.tool,
    tool_input: args,
    tool_use_id: input.callID,
  })
  return {
    "chat.message": async (input) => {
      turns[input.sessionID] = input.messageID ?? String(Date.now())
    },
    "tool.execute.before": async (input, output) => {
      const answer = ask(event("tool.execute.before", input, output.args))
      if (answer.decision === "deny") throw new Error(answer.reason)
      if (answer.args) Object.assign(output.args, answer.args)
    },
    "tool.execute.after": async (input) => {
      ask(event("tool.execute.after", input, input.args ?? {}))
    },
  }
}
