import { mkdirSync, writeFileSync } from "node:fs"
import { TARGETS } from "../../build.ts"
import type { Entry } from "../../scripts/archive.ts"
import { readExtras, release } from "../../scripts/release.ts"
import { sign } from "../../scripts/sign.ts"
import { executable } from "./tiny-macho.ts"

/** A release whose binaries are small programs, so that it is made in a moment. */

export const URL_OF_RELEASE = "https://downloads.example.org/1"
export const HOMEPAGE = "https://example.org/agent-desktop"

/** In place of the binary: prints its arguments, or ends as they say. */
const STAND_IN = `#!/bin/sh
case "$1" in
  fail) exit 7 ;;
  die) kill -KILL $$ ;;
  wait) trap 'kill $child; echo terminated; exit 3' TERM; sleep 60 & child=$!; echo ready; wait $child ;;
  read) cat ;;
  *) printf '<%s>' "$@" ;;
esac
`

/** Writes a binary for every target, and releases them to DIRECTORY/release. */
export async function standInRelease(
  directory: string,
  library: readonly Entry[] = [],
  darwin = sign(executable("arm64")),
  addresses: { readonly url?: string; readonly homepage?: string } = {
    url: URL_OF_RELEASE,
    homepage: HOMEPAGE,
  },
): Promise<string> {
  mkdirSync(directory, { recursive: true })
  for (const target of TARGETS)
    writeFileSync(`${directory}/agent-desktop-${target}`, target.startsWith("darwin") ? darwin : STAND_IN)
  const extras = { ...(await readExtras()), man: ".TH agent-desktop 1\n", completions: { fish: "# fish\n" } }
  const out = `${directory}/release`
  await release({ from: directory, out, ...addresses, extras, library, time: 1_700_000_000 })
  return out
}

/** Runs a program to its end. */
export function run(command: readonly string[], cwd: string) {
  const { stdout, stderr, exitCode, signalCode } = Bun.spawnSync([...command], { cwd, stdin: "ignore" })
  return { text: stdout.toString(), complaints: stderr.toString(), exitCode, signalCode }
}
