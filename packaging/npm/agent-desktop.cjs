#!/usr/bin/env node
"use strict"

// Runs the binary for this machine with the same streams, exit code and signal.

const { spawn } = require("node:child_process")
const { constants } = require("node:os")

const target = `${process.platform}-${process.arch}`

// npm installs the package for this machine's C library. An old npm, or a copied node_modules, may have both.
function findBinary() {
  const found = [target, `${target}-musl`].map(binaryOf)
  const isMusl = found[1] && (!found[0] || !process.report.getReport().header.glibcVersionRuntime)
  const binary = isMusl ? found[1] : found[0]
  if (binary) return binary
  process.stderr.write(
    `agent-desktop: the package @agent-desktop/${target} is not installed.\n` +
      "Either there is no binary for this machine, or optional dependencies were left out\n" +
      "(npm install --include=optional), or node_modules was copied from another machine.\n",
  )
  process.exit(1)
}

function binaryOf(name) {
  try {
    return require.resolve(`@agent-desktop/${name}/bin/agent-desktop`)
  } catch {
    return undefined
  }
}

// Register the handlers before the child starts: a signal in between would end only this process and orphan the child.
// A terminal sends Ctrl-C to both processes. A signal sent to this process alone has to be passed on.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal)
  })

const child = spawn(findBinary(), process.argv.slice(2), { stdio: "inherit" })
child.on("error", (error) => {
  process.stderr.write(`agent-desktop: cannot run ${child.spawnfile}: ${error.message}\n`)
  process.exitCode = 1
})
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exitCode = code
    return
  }
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  // Exit with the signal's code if the signal does not end this process.
  process.exitCode = 128 + constants.signals[signal]
})
