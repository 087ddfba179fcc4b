import { AppError, type Disposition } from "../../errors.ts"

/** Errors that every window system has. */

export function windowOffScreen(): AppError {
  return new AppError("ACTION_FAILED", "The window is entirely off the screen", {
    suggestion: "Use 'focus-window' or 'move-window' to bring it into view",
  })
}

export function clipboardNotText(): AppError {
  return new AppError("ACTION_FAILED", "The clipboard's content is not text", {
    suggestion: "Copy text, or use 'clipboard-clear'",
  })
}

export function clipboardOwnerSilent(): AppError {
  return new AppError("APP_UNRESPONSIVE", "The program that owns the clipboard does not answer", {
    suggestion: "Wait for it, or use 'clipboard-set' to replace its content",
  })
}

export function clipboardNotTaken(
  disposition: Disposition = { delivery: "delivery_uncertain", retry: "safe" },
): AppError {
  return new AppError("ACTION_FAILED", "The clipboard could not be taken over", {
    suggestion: "Run 'clipboard-get' to see its content, then try again",
    disposition,
  })
}
