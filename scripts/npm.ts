import type { Target } from "../build.ts"
import { author, description, license } from "../package.json"
import { type Entry, tarGz } from "./archive.ts"
import { template } from "./template.ts"

/**
 * The npm packages: `agent-desktop` with a launcher and the library for Bun, and one package per target with the
 * binary. npm installs the one whose `os` and `cpu` match. The packages have no install script, since many users forbid them.
 */

export const platformPackage = (target: Target): string => `@agent-desktop/${target}`

interface Platform {
  readonly target: Target
  readonly version: string
  readonly homepage?: string
  readonly binary: Entry
  readonly licences: readonly Entry[]
  readonly time: number
}

export function packPlatform({ target, version, homepage, binary, licences, time }: Platform) {
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
    // The binary must be unpacked to be executable.
    preferUnplugged: true,
    files: ["bin", "THIRD-PARTY-NOTICES.txt"],
  }
  return pack(manifest, [{ ...binary, path: "bin/agent-desktop" }, ...licences], time)
}

export interface Launcher {
  readonly targets: readonly Target[]
  readonly version: string
  readonly homepage?: string
  readonly documents: readonly Entry[]
  readonly library: readonly Entry[]
  readonly time: number
}

export async function packLauncher({ targets, version, homepage, documents, library, time }: Launcher) {
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
    files: ["bin", "lib", "THIRD-PARTY-NOTICES.txt"],
    // The launcher is CommonJS, the library is ESM.
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

/** Packs like `npm pack`: everything is under package/. */
function pack(manifest: object, entries: readonly Entry[], time: number): Uint8Array {
  const json = { path: "package.json", content: `${JSON.stringify(manifest, null, 2)}\n` }
  return tarGz(
    [json, ...entries].map((entry) => ({ ...entry, path: `package/${entry.path}` })),
    time,
  )
}
