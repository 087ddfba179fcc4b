import { PROGRAM } from "./desktop.ts"

interface Server extends AsyncDisposable {
  call(name: string, args: object): Promise<unknown>
}

/** An MCP server on the desktop, as an agent runs one. */
export async function startServer(env: Readonly<Record<string, string>>): Promise<Server> {
  const child = Bun.spawn([PROGRAM, "mcp"], { env: { ...env }, stdio: ["pipe", "pipe", "ignore"] })
  const reader = child.stdout.getReader()
  let received = ""
  const ask = async (method: string, params: object): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`)
    await child.stdin.flush()
    while (!received.includes("\n")) {
      const { value, done } = await reader.read()
      if (done) throw new Error("The server has ended")
      received += new TextDecoder().decode(value)
    }
    const line = received.slice(0, received.indexOf("\n"))
    received = received.slice(line.length + 1)
    const { result, error } = JSON.parse(line)
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
  const clientInfo = { name: "test", version: "1" }
  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo })
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`)
  return {
    call: (name, args) => ask("tools/call", { name, arguments: args }),
    async [Symbol.asyncDispose]() {
      await child.stdin.end()
      await child.exited
    },
  }
}
