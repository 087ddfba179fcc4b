import { expect, test } from "bun:test"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { author, version } from "../../package.json"
import { temporaryForFile } from "../support/temporary.ts"
import { HOMEPAGE, run, standInRelease } from "./stand-in-release.ts"

const directory = temporaryForFile()
const out = await standInRelease(directory)

test.skipIf(!Bun.which("dpkg"))(
  "the Debian package installs the files that it lists, and removes all of them",
  () => {
    const system = join(directory, "system")
    for (const folder of ["info", "updates", "triggers"])
      mkdirSync(join(system, "var/lib/dpkg", folder), { recursive: true })
    writeFileSync(join(system, "var/lib/dpkg/status"), "")
    writeFileSync(join(system, "var/lib/dpkg/available"), "")
    const architecture = run(["dpkg", "--print-architecture"], out).text.trim()
    const deb = join(out, `agent-desktop_${version}_${architecture}.deb`)
    const wanted = ["Package", "Version", "Architecture", "Maintainer", "Homepage", "Recommends"]
    expect(run(["dpkg-deb", "--field", deb, ...wanted], out).text).toBe(
      `Package: agent-desktop\nVersion: ${version}\nArchitecture: ${architecture}\nMaintainer: ${author}\n` +
        `Homepage: ${HOMEPAGE}\nRecommends: at-spi2-core, dbus, openbox, xvfb\n`,
    )
    const forced = ["--force-not-root", "--force-depends", "--force-script-chrootless", `--log=${system}/log`]
    const dpkg = (...args: string[]) => run(["dpkg", `--root=${system}`, ...forced, ...args], out)
    expect(dpkg("--install", deb).exitCode).toBe(0)
    expect(run([join(system, "usr/bin/agent-desktop"), "hello"], out).text).toBe("<hello>")
    expect(run(["gzip", "-dc", join(system, "usr/share/man/man1/agent-desktop.1.gz")], out).text).toStartWith(
      ".TH",
    )
    expect(existsSync(join(system, "usr/share/fish/vendor_completions.d/agent-desktop.fish"))).toBe(true)
    // Every file against its checksum in the package.
    expect(dpkg("--verify", "agent-desktop")).toMatchObject({ text: "", exitCode: 0 })
    expect(dpkg("--remove", "agent-desktop").exitCode).toBe(0)
    expect(existsSync(join(system, "usr/bin/agent-desktop"))).toBe(false)
    expect(existsSync(join(system, "usr/share/doc/agent-desktop"))).toBe(false)
  },
)
