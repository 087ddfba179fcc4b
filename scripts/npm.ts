import type { Target } from "../build.ts"
import { author, description, homepage, license } from "../package.json"
import { type Entry, tarGz } from "./archive.ts"
import { template } from "./template.ts"

/**
 * The packages for npm: `agent-desktop` with a launcher, and one per target with the binary, of which npm installs
 * the one whose `os` and `cpu` are the machine's. No install script: many refuse to run them. The first one is also
 * the library, for programs that run on Bun.
 */

export const platformPackage = (target: Target): string => `@agent-desktop/${target}`

export function packPlatform(target: Target, version: string, binary: Entry, licence: Entry, time: number) {
  const [os, cpu, libc = "glibc"] = target.split("-")
  const manifest = {
    name: platformPackage(target),
    version,
    description: `agent-desktop for ${target}`,
    license,
    homepage,
    author,
    os: [os],
    cpu: [cpu],
    ...(os === "linux" ? { libc: [libc] } : {}),
    // Without unpacking there is nothing to execute.
    preferUnplugged: true,
    files: ["bin"],
  }
  return pack(manifest, [{ ...binary, path: "bin/agent-desktop" }, licence], time)
}

export interface Launcher {
  readonly targets: readonly Target[]
  readonly version: string
  readonly documents: readonly Entry[]
  readonly library: readonly Entry[]
  readonly time: number
}

export async function packLauncher({ targets, version, documents, library, time }: Launcher) {
  const manifest = {
    name: "agent-desktop",
    version,
    description,
    license,
    homepage,
    author,
    bin: { "agent-desktop": "bin/agent-desktop.cjs" },
    exports: {
      ".": { types: "./lib/index.d.ts", bun: "./lib/index.js" },
      "./package.json": "./package.json",
    },
    files: ["bin", "lib"],
    // The launcher and the library are of different kinds.
    type: "module",
    engines: { node: ">=18" },
    optionalDependencies: Object.fromEntries(targets.map((target) => [platformPackage(target), version])),
  }
  const launcher = {
    path: "bin/agent-desktop.cjs",
    content: await template("npm/agent-desktop.cjs"),
    isExecutable: true,
  }
  return pack(manifest, [launcher, ...documents, ...library], time)
}

/** As `npm pack` would: everything is under package/. */
function pack(manifest: object, entries: readonly Entry[], time: number): Uint8Array {
  const json = { path: "package.json", content: `${JSON.stringify(manifest, null, 2)}\n` }
  return tarGz(
    [json, ...entries].map((entry) => ({ ...entry, path: `package/${entry.path}` })),
    time,
  )
}
