// Types in a separate process, like a command: typist.ts TEXT TIMES [MS]
import { Deadline } from "../../src/deadline.ts"
import { openPlatform } from "../../src/platform.ts"

const [text = "", times = "1", ms = "60000"] = process.argv.slice(2)
const platform = await openPlatform({ env: process.env, root: process.env.AGENT_DESKTOP_HOME ?? "" })
for (let i = 0; i < Number(times); i++) {
  const adapter = platform.adapter(Deadline.in(Number(ms)))
  try {
    // Two events, like a focus and a text. Input of other processes must not come between them.
    await adapter.input({ kind: "text", text })
    await adapter.input({ kind: "text", text: `${text}\n` })
  } finally {
    await adapter.close()
  }
}
await platform.close()
