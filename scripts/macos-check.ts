import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { homedir, tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { appChecks } from "./macos-check/check-apps.ts"
import { systemChecks } from "./macos-check/check-system.ts"
import { webChecks } from "./macos-check/check-web.ts"
import {
  type Check,
  Interrupted,
  type Interruption,
  Mac,
  type Outside,
  realMac,
  Skip,
} from "./macos-check/mac.ts"

/**
 * The first thing to run on a Mac: tries the main commands on Apple's own apps, and prints a report for an issue.
 *
 *   bun scripts/macos-check.ts [BINARY] [WORDS] [--dry-run] [--yes]
 *
 * With WORDS, runs only the checks whose title or subject contains them, and before them the checks that all others need.
 * --dry-run prints the checks and the things they change, and runs nothing. --yes does not ask first.
 *
 * Files, AppleScript, System Events and a web page judge the effects, never agent-desktop. Nothing is looked up by a
 * name that depends on the language. Everything that is opened or changed is put back, even after ctrl+c.
 */

/** All checks in order. Each needs the vital ones above it. */
export const CHECKS: readonly Check[] = [...systemChecks, ...appChecks, ...webChecks]

export interface Result {
  readonly check: Check
  readonly outcome: "ok" | "FAILED" | "skipped"
  readonly detail?: string
  readonly ms: number
  /** Changes that could not be undone. */
  readonly left: readonly string[]
}

/** Runs checks one after another. Calls `tell` after each. */
export async function runChecks(
  checks: readonly Check[],
  mac: Mac,
  interruption: Interruption,
  tell: (result: Result) => void = () => undefined,
): Promise<readonly Result[]> {
  const results: Result[] = []
  let lacking: string | undefined
  for (const check of checks) {
    const start = performance.now()
    const ended = interruption.aborted
      ? ({ outcome: "skipped", detail: "interrupted" } as const)
      : lacking
        ? ({ outcome: "skipped", detail: `needs: ${lacking}` } as const)
        : await attempt(check, mac)
    interruption.puttingBack = true
    const left = await mac.putBack()
    interruption.puttingBack = false
    if (check.isVital && ended.outcome === "FAILED") lacking = check.title
    const result = { check, ...ended, left, ms: Math.round(performance.now() - start) }
    results.push(result)
    tell(result)
  }
  return results
}

async function attempt(check: Check, mac: Mac): Promise<Pick<Result, "outcome" | "detail">> {
  try {
    return { outcome: "ok", detail: await check.run(mac) }
  } catch (error) {
    const detail = error instanceof Error ? error.message : `${error}`
    const isSkipped = error instanceof Skip || error instanceof Interrupted
    return { outcome: isSkipped ? "skipped" : "FAILED", detail }
  }
}

/** The report as Markdown. Leaves out the user's name and home directory. */
export function report(about: string, results: readonly Result[]): string {
  const count = (outcome: string) => results.filter((one) => one.outcome === outcome).length
  const rows = results.map(
    ({ check, outcome, ms }) => `| ${check.about} | ${check.title} | ${outcome} | ${ms} ms |`,
  )
  const details = results.flatMap(({ check, outcome, detail, left }) => [
    ...(detail ? [`${outcome}: ${check.title}\n  ${detail.replaceAll("\n", "\n  ")}`] : []),
    ...left.map((one) => `NOT PUT BACK: ${check.title}\n  ${one}`),
  ])
  const text = [
    `**agent-desktop on a Mac: ${count("ok")} ok, ${count("FAILED")} failed, ${count("skipped")} skipped**`,
    about,
    ["| about | check | result | time |", "|---|---|---|---|", ...rows].join("\n"),
    `\`\`\`\n${details.join("\n")}\n\`\`\``,
  ].join("\n\n")
  const { username } = userInfo()
  return text
    .replaceAll(homedir(), "~")
    .replaceAll(new RegExp(`\\b${RegExp.escape(username)}\\b`, "g"), "user")
}

/** The checks whose subject or title contains the words, and the vital ones. */
export function chosen(words: string): readonly Check[] {
  const fits = ({ about, title }: Check) => `${about}: ${title}`.toLowerCase().includes(words.toLowerCase())
  return CHECKS.filter((check) => check.isVital || fits(check))
}

/** A unique word that no spelling correction changes, such as "C4F9K2X1". */
export function newNonce(): string {
  return `C4${Math.random().toString(36).slice(2, 8).toUpperCase()}`
}

async function describe(outside: Outside, binary: string): Promise<string> {
  const said = async (...command: readonly string[]) => {
    const { code, out } = await outside.run(command)
    return code === 0 ? out.replace(/\s+/g, " ").trim() : "unknown"
  }
  return [
    `macOS ${await said("sw_vers", "-productVersion")} (${await said("sw_vers", "-buildVersion")})`,
    await said("uname", "-m"),
    `languages ${await said("defaults", "read", "-g", "AppleLanguages")}`,
    `signature ${await said("codesign", "--verify", "--strict", binary).then((out) => out || "valid")}`,
  ].join(", ")
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { "dry-run": { type: "boolean" }, yes: { type: "boolean" } },
    allowPositionals: true,
  })
  const [binary = "dist/agent-desktop", words = ""] = positionals
  const checks = chosen(words)
  const plan = checks.map(({ about, title, touches }) => `${about}: ${title}\n    ${touches}`).join("\n")
  if (values["dry-run"]) console.log(plan)
  else await main(binary, checks, plan, values.yes ?? false)
}

async function main(
  binary: string,
  checks: readonly Check[],
  plan: string,
  isAgreed: boolean,
): Promise<void> {
  if (!Bun.which("sw_vers")) throw new Error("This is not a Mac. Use --dry-run to see the checks")
  if (!isAgreed) {
    console.error(`${plan}\n\nmacOS asks whether this terminal may control these apps: allow it.`)
    console.error("Do not use mouse and keyboard meanwhile. ctrl+c ends the run and puts everything back.")
    if (prompt("Start? [y/N]")?.toLowerCase() !== "y") {
      process.exitCode = 2
      return
    }
  }
  const interruption: Interruption = { aborted: false, puttingBack: false }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      interruption.aborted = true
      if (!interruption.puttingBack) interruption.child?.kill("SIGINT")
    })
  const nonce = newNonce()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `agent-desktop-${nonce}-`)))
  const outside = realMac(binary, interruption)
  const mac = new Mac(outside, folder, nonce)
  try {
    const front = await outside.script("frontApp", [])
    const about = await describe(outside, binary)
    const results = await runChecks(checks, mac, interruption, ({ check, outcome, detail }) =>
      console.error(
        `${outcome.padEnd(7)} ${check.about}: ${check.title}${detail ? `\n        ${detail}` : ""}`,
      ),
    )
    interruption.puttingBack = true
    if (front.code === 0) await outside.script("activate", [front.out.trim()])
    console.log(report(about, results))
    process.exitCode = results.some(({ outcome, left }) => outcome === "FAILED" || left.length > 0) ? 1 : 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  if (interruption.aborted) process.exitCode = 130
}
