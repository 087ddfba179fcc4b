/**
 * For `bun test --preload`: a limit that suits busy machines, so that `bun test FILE` needs no flag. Bun applies
 * it to the first file only; `bun run test` sets the same limit for runs of several files.
 */
import { setDefaultTimeout } from "bun:test"

setDefaultTimeout(120_000)
