import { AppError, type Disposition } from "./errors.ts"
import { escapeHidden } from "./shown-text.ts"

export interface ErrorObject {
  readonly code: string
  readonly message: string
  readonly suggestion?: string
  readonly platform_detail?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly disposition?: Disposition
}

export type Envelope =
  | { readonly version: "1.0"; readonly ok: true; readonly command: string; readonly data: object }
  | { readonly version: "1.0"; readonly ok: false; readonly command: string; readonly error: ErrorObject }

export function success(command: string, data: object): Envelope {
  return { version: "1.0", ok: true, command, data }
}

export function failure(command: string, error: unknown): Envelope {
  return { version: "1.0", ok: false, command, error: errorObject(error) }
}

export function errorObject(error: unknown): ErrorObject {
  const known = error instanceof AppError ? error : unexpected(error)
  return {
    code: known.code,
    message: known.message,
    suggestion: known.suggestion,
    platform_detail: known.platformDetail,
    details: known.details,
    disposition: known.disposition,
  }
}

/** One line for every reader: JSON escapes newlines and lone surrogates, and this also escapes characters that hide or reorder text. */
export function toLine(envelope: Envelope): string {
  return `${toJson(envelope)}\n`
}

/** JSON in which no application text is hidden. It parses to the same data. */
export const toJson = (data: object): string => escapeHidden(JSON.stringify(data))

export function unexpected(error: unknown): AppError {
  const message = error instanceof Error ? error.message : String(error)
  return new AppError("INTERNAL", `Unexpected failure: ${message}`, {
    suggestion: "Run the command again with --verbose and report what it logs",
  })
}

/** A result that is printed as plain text for people and shells; in JSON it is an object with one member. */
export class PlainText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}
