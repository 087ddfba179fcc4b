import { existsSync, readdirSync } from "node:fs"
import type { Env } from "../../adapter.ts"

/** A toolkit whose apps are accessible only if a bridge is installed and their environment names it. */
export interface Bridge {
  readonly name: "GTK 2 bridge" | "Java bridge"
  readonly isInstalled: boolean
  /** The variables that switch it on, in addition to those that are set. */
  readonly env: Readonly<Record<string, string>>
}

/** The GTK 2 and Java bridges. All later toolkits are accessible by themselves. */
export function bridges(env: Env, root = ""): readonly Bridge[] {
  const nested = namesIn(`${root}/usr/lib`).map((name) => `${root}/usr/lib/${name}`)
  const directories = [`${root}/usr/lib`, `${root}/usr/lib64`, ...nested]
  const has = (file: string): boolean => directories.some((directory) => existsSync(`${directory}/${file}`))
  const java = JARS.map((jar) => `${root}${jar}`).find((jar) => existsSync(jar))
  const isInstalled = {
    gtk2: GTK_MODULES.every((name) => has(`gtk-2.0/modules/lib${name}.so`)),
    java: java !== undefined && (has("jni/libatk-wrapper.so") || has("java-atk-wrapper/libatk-wrapper.so")),
  }
  const given = env.GTK_MODULES?.split(":").filter(Boolean) ?? []
  const modules = GTK_MODULES.filter((name) => !given.includes(name))
  const options = env.JAVA_TOOL_OPTIONS ?? ""
  const isConfigured = options.includes(ASSISTIVE)
  const javaOptions = `${options} -D${ASSISTIVE}=${WRAPPER} -Xbootclasspath/a:${java}`.trim()
  return [
    {
      name: "GTK 2 bridge",
      isInstalled: isInstalled.gtk2,
      env: isInstalled.gtk2 ? { GTK_MODULES: [...given, ...modules].join(":") } : {},
    },
    {
      name: "Java bridge",
      isInstalled: isInstalled.java,
      env: isInstalled.java && !isConfigured ? { JAVA_TOOL_OPTIONS: javaOptions } : {},
    },
  ]
}

/** The variables of all installed bridges. */
export const bridgeEnv = (env: Env): Readonly<Record<string, string>> =>
  Object.assign({}, ...bridges(env).map((bridge) => bridge.env))

const GTK_MODULES = "gail:atk-bridge".split(":")

const JARS = ["/usr/share/java/java-atk-wrapper.jar", "/usr/share/java-atk-wrapper/java-atk-wrapper.jar"]
const ASSISTIVE = "javax.accessibility.assistive_technologies"
const WRAPPER = "org.GNOME.Accessibility.AtkWrapper"

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => name.includes("-linux-gnu"))
  } catch {
    return []
  }
}
