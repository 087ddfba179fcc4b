import { rmSync } from "node:fs"
import type { Deadline } from "../../deadline.ts"
import { AppError } from "../../errors.ts"
import { pause } from "../../until.ts"
import { isAlive } from "../host/processes.ts"
import { claimNumber, provenSocket, randomNumber, removeNumber } from "./number.ts"
import { type PartSpec, startAnnouncedPart, writeCookie } from "./parts.ts"
import type { DesktopRecord } from "./record.ts"

type Note = (facts: Partial<DesktopRecord>) => void

/** Starts a desktop's X server on an unused display number. If that fails, it tries further numbers. */
export async function startServer(
  spec: PartSpec,
  first: number | undefined,
  record: () => DesktopRecord,
  note: Note,
  deadline: Deadline,
): Promise<void> {
  const before = record()
  for (let from = first ?? randomNumber(), tries = 1; ; tries++) {
    try {
      return await startAt(from, spec, before, note, deadline)
    } catch (error) {
      if (tries === TRIES || !(error instanceof AppError && error.code === "ACTION_FAILED")) throw error
      from = await withdraw(record(), deadline)
      note({ ...before, display: undefined, lock: undefined })
    }
  }
}

const TRIES = 3

async function startAt(
  from: number,
  spec: PartSpec,
  { runtime, env, parts }: DesktopRecord,
  note: Note,
  deadline: Deadline,
): Promise<void> {
  const cookie = crypto.getRandomValues(new Uint8Array(16))
  writeCookie(`${runtime}/server.auth`, cookie, "")
  rmSync(spec.log, { force: true }) // of an earlier try
  const claim = claimNumber(from)
  const display = `:${claim.number}`
  let isHandedOver = false
  try {
    // With -displayfd the server makes no lock itself, and reports when it is ready.
    const own = [display, "-displayfd", "3", "-auth", `${runtime}/server.auth`]
    const announced = await startAnnouncedPart(
      { ...spec, command: [...spec.command, ...own] },
      (part) => {
        const lock = claim.handOver(part.pid)
        isHandedOver = true
        note({ parts: [...parts, part], display, lock, env: { ...env, DISPLAY: display } })
      },
      deadline,
    )
    writeCookie(`${runtime}/Xauthority`, cookie, announced)
  } finally {
    if (!isHandedOver) claim.release()
  }
  const socket = await provenSocket(claim.number, env, deadline)
  if (!socket)
    throw new AppError("ACTION_FAILED", `Another X server took over display ${display}`, {
      suggestion: "Run 'desktop-start' again",
    })
  note({ socket })
}

/** Ends a server that failed and gives its number back; returns the next number to try. */
async function withdraw({ display, lock, parts }: DesktopRecord, deadline: Deadline): Promise<number> {
  if (!display) return randomNumber()
  const server = parts.at(-1)
  // On SIGTERM it would remove the socket of the server that took over.
  if (server && isAlive(server)) process.kill(server.pid, "SIGKILL")
  while (server && isAlive(server) && !deadline.expired) await pause(LOOK_AGAIN_MS, deadline)
  removeNumber(display, undefined, lock)
  return Number(display.slice(1)) + 1
}

const LOOK_AGAIN_MS = 10
