import { version } from "../package.json"

declare const BUILD_TARGET: string | undefined
declare const BUILD_COMMIT: string | undefined

export const VERSION: string = version

/** The build writes target and commit into the binary. From source, they describe the running process. */
export function versionFacts() {
  return {
    version,
    target: typeof BUILD_TARGET === "string" ? BUILD_TARGET : `${process.platform}-${process.arch}`,
    os: process.platform === "darwin" ? "macos" : process.platform,
    arch: process.arch,
    bun: Bun.version,
    ...(typeof BUILD_COMMIT === "string" && BUILD_COMMIT ? { commit: BUILD_COMMIT } : {}),
  }
}
