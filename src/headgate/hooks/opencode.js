// Headgate for opencode: every tool result passes `headgate hook opencode` before the model sees it.
// Written by `headgate install opencode`; `headgate install opencode --undo` removes it.
import { spawn } from "node:child_process"

const COMMAND = __COMMAND__
const TIMEOUT_MS = 20000

// Whatever goes wrong, the result stays as it was: an agent must never wait for us.
function ask(event) {
  return new Promise((resolve) => {
    const out = []
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS)
    const done = (text) => {
      clearTimeout(timer)
      resolve(text)
    }
    child.on("error", () => done(undefined))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk) => out.push(chunk))
    child.on("close", () => {
      try {
        done(JSON.parse(Buffer.concat(out).toString("utf8")).output)
      } catch {
        done(undefined)
      }
    })
    child.stdin.end(JSON.stringify(event))
  })
}

export const Headgate = async () => ({
  "tool.execute.after": async (input, output) => {
    if (typeof output?.output !== "string") return
    const text = await ask({
      hook_event_name: "tool.execute.after",
      session_id: input.sessionID,
      tool_use_id: input.callID,
      tool_name: input.tool,
      tool_input: input.args,
      tool_response: output.output,
      is_error: typeof output.metadata?.exit === "number" && output.metadata.exit !== 0,
      ...(output.metadata?.truncated && output.metadata.outputPath
        ? { whole: output.metadata.outputPath }
        : {}),
    })
    if (typeof text === "string") output.output = text
  },
})
