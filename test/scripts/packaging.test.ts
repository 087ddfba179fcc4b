import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { TARGETS } from "../../build.ts"
import { author, engines, version } from "../../package.json"
import { parseArgv } from "../../src/cli/args.ts"
import { globals } from "../../src/cli/globals.ts"
import { commands } from "../../src/commands/index.ts"
import { parseArgs } from "../../src/run.ts"
import { temporaryForFile } from "../support/temporary.ts"
import { run, standInRelease } from "./stand-in-release.ts"

const root = join(import.meta.dir, "../..")

test("packages name no address but the one that the release is given", async () => {
  const out = await standInRelease(temporaryForFile(), [], undefined, {})
  expect([...new Bun.Glob("*.rb").scanSync(out)]).toEqual([])
  const deb = run(["dpkg-deb", "--field", `agent-desktop_${version}_amd64.deb`], out)
  expect(deb.text).toContain(`Maintainer: ${author}\nInstalled-Size: `)
  expect(deb.text).not.toContain("Homepage")
  const npm = run(["tar", "-xzOf", `npm-agent-desktop-${version}.tgz`, "package/package.json"], out)
  expect(JSON.parse(npm.text)).not.toHaveProperty("homepage")
  const files = [...new Bun.Glob("{package.json,packaging/**/*,scripts/**/*}").scanSync(root)]
  expect(files.filter((file) => readFileSync(join(root, file), "utf8").includes("example.com"))).toEqual([])
})

test("pods and image use commands and targets that exist", async () => {
  const text = readFileSync(join(root, "packaging/kubernetes/agent-desktop.yaml"), "utf8")
  const [, stateful] = Bun.YAML.parse(text) as [unknown, StatefulSet]
  const [container] = stateful.spec.template.spec.containers
  const { readinessProbe, livenessProbe, lifecycle, command } = container!
  const started = command.at(-1)!.split(" && ")[0]!.split(" ")
  const called = [readinessProbe, livenessProbe, lifecycle.preStop].map(({ exec }) => exec.command)
  for (const [program, ...args] of [...called, started]) {
    expect(program).toBe("agent-desktop")
    const parsed = await parseArgv(args, commands, globals)
    if (parsed.kind !== "run") throw new Error(`${args} does not run`)
    await parseArgs(parsed.command, parsed.args)
  }
  const image = readFileSync(join(root, "packaging/container/Containerfile"), "utf8")
  const targets = [...image.matchAll(/target=(linux-[\w-]+)/g)].map(([, one]) => one)
  expect(TARGETS).toEqual(expect.arrayContaining(targets as never))
  // The pods run as the user that the image creates.
  expect(image).toContain(`--uid ${stateful.spec.template.spec.securityContext.runAsUser} `)
})

interface StatefulSet {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly securityContext: { readonly runAsUser: number }
        readonly containers: readonly {
          readonly command: readonly string[]
          readonly readinessProbe: Probe
          readonly livenessProbe: Probe
          readonly lifecycle: { readonly preStop: Probe }
        }[]
      }
    }
  }
}

interface Probe {
  readonly exec: { readonly command: readonly string[] }
}

test("the workflows use no actions of other repositories", () => {
  for (const name of ["ci", "release"]) {
    const { jobs } = Bun.YAML.parse(
      readFileSync(join(root, `.github/workflows/${name}.yml`), "utf8"),
    ) as Workflow
    const steps = Object.values(jobs).flatMap((job) => job.steps)
    expect(steps.filter((step) => typeof step.run !== "string" || "uses" in step)).toEqual([])
  }
})

test("a release with a missing native symbol is not published", () => {
  const { jobs } = Bun.YAML.parse(
    readFileSync(join(root, ".github/workflows/release.yml"), "utf8"),
  ) as Workflow
  const lines = jobs.macos!.steps.flatMap((step) => step.run!.trim().split("\n"))
  expect(lines).toContain("./agent-desktop doctor --ffi --strict")
  // `bash -e` ends the job at the first failing line.
  expect(lines.filter((line) => line.includes("|| true"))).toEqual([])
  expect(jobs.publish!.needs).toBe("macos")
})

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly needs?: string; readonly steps: readonly { readonly run?: string }[] }>
  >
}

test("all files name the Bun version of package.json", () => {
  const files = ["README.md", "CONTRIBUTING.md", "RELEASING.md", ".ci/run", ".github/workflows/ci.yml"]
  for (const file of [...files, ".github/workflows/release.yml"]) {
    const named = [...readFileSync(join(root, file), "utf8").matchAll(/\bbun@(\d[\w.-]*)/g)].map(
      ([, one]) => one,
    )
    expect([file, ...new Set(named)]).toEqual([file, engines.bun])
  }
})

test("the pages name archives and sizes of the version of package.json", () => {
  const named = ["docs/size.md", "docs/guides/ci.md"].flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/(?:agent-desktop-|version )(\d+\.\d+\.\d+)/g)].map(
      ([, one]) => one,
    ),
  )
  expect(named).toEqual([version, version])
})
