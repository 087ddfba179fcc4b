/** One scene for each test, and a check for violations after it. */
import { expect } from "bun:test"
import { type FakeMac, startScene } from "../fake.ts"
import { buildFake } from "./build.ts"
import { constant, mac } from "./client.ts"

// Compiled at import: it may take longer than the timeout of the first test.
buildFake()

let scene: FakeMac | undefined
const kept: bigint[] = []

export function start(...args: Parameters<typeof startScene>): FakeMac {
  scene?.close()
  scene = startScene(...args)
  return scene
}

/** Releases the reference after the test. */
export function keep(ref: bigint | undefined): bigint {
  if (ref === undefined) throw new Error("nothing was found")
  kept.push(ref)
  return ref
}

export function release(): void {
  for (const ref of kept.splice(0)) mac().CFRelease(ref)
}

/** For afterEach: expects that the test caused no violations. */
export function finish(): void {
  release()
  if (!scene) return
  const { violations, leaks, pools } = scene.report()
  scene.close()
  scene = undefined
  expect({ violations, leaks, pools }).toEqual({ violations: [], leaks: [], pools: 0 })
}

export function runLoop(seconds: number): number {
  return mac().CFRunLoopRunInMode(constant("kCFRunLoopDefaultMode"), seconds, 0)
}
