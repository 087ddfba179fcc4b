import { Deadline } from "../../src/deadline.ts"
import { connectMacos } from "../../src/macos/adapter.ts"
import { ALL, outline } from "./adapter-outline.ts"

/** Prints the windows and the tree of the first one. A process of its own, because a library is opened only once. */
const platform = connectMacos({ env: process.env, root: "" })
const adapter = platform.adapter(Deadline.in(20_000))
const windows = await adapter.windows()
const [window] = windows
const tree =
  window?.accessible === false || !window
    ? undefined
    : await adapter.tree({ kind: "surface", window, surface: "window" }, ALL)
await platform.close()
await Bun.write(Bun.stdout, JSON.stringify({ windows, lines: tree && outline(tree.root) }))
