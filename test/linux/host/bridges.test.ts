import { expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { bridges } from "../../../src/linux/host/bridges.ts"
import { temporaryForFile } from "../../support/temporary.ts"

const MODULES = ["libgail.so", "libatk-bridge.so"].map(
  (file) => `usr/lib/x86_64-linux-gnu/gtk-2.0/modules/${file}`,
)
const JAVA = ["usr/share/java/java-atk-wrapper.jar", "usr/lib/jni/libatk-wrapper.so"]

async function machine(...files: readonly string[]): Promise<string> {
  const root = temporaryForFile()
  mkdirSync(`${root}/usr/lib`, { recursive: true })
  for (const file of files) await Bun.write(`${root}/${file}`, "")
  return root
}

const envOf = (env: Record<string, string>, root: string): Record<string, string> =>
  Object.assign({}, ...bridges(env, root).map((bridge) => bridge.env))

test("no variable is set if no bridge is installed, or only a part of one", async () => {
  expect(envOf({}, await machine())).toEqual({})
  expect(envOf({}, await machine(MODULES[0]!, JAVA[0]!))).toEqual({})
})

test("installed bridges are switched on", async () => {
  const root = await machine(...MODULES, ...JAVA)
  expect(envOf({}, root)).toEqual({
    GTK_MODULES: "gail:atk-bridge",
    JAVA_TOOL_OPTIONS: `-Djavax.accessibility.assistive_technologies=org.GNOME.Accessibility.AtkWrapper -Xbootclasspath/a:${root}/usr/share/java/java-atk-wrapper.jar`,
  })
})

test("the user's settings stay, and nothing is set twice", async () => {
  const root = await machine(...MODULES, ...JAVA)
  const first = envOf({ GTK_MODULES: "canberra:gail", JAVA_TOOL_OPTIONS: "-Xmx1g" }, root)
  expect(first.GTK_MODULES).toBe("canberra:gail:atk-bridge")
  expect(first.JAVA_TOOL_OPTIONS).toStartWith("-Xmx1g -Djavax.accessibility")
  expect(envOf(first, root)).toEqual({ GTK_MODULES: first.GTK_MODULES! })
})
