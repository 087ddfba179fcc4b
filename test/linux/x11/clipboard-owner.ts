import { serveClipboard } from "../../../src/linux/x11/clipboard-owner.ts"

process.exitCode = await serveClipboard(process.env)
