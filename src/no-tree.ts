import { AppError, plainWord } from "./errors.ts"

/** Suggests commands that work without a tree. */
export const workBySight = (id: string): string =>
  `Work from pictures: 'screenshot --window-id ${id}', 'mouse-click --xy X,Y', 'type @focused TEXT --window-id ${id}', 'press KEYS --window-id ${id}'`

/** `isFinal`: no restart would make the app expose its content. */
export function noTree(
  { id, app_name }: { readonly id: string; readonly app_name: string },
  reason: string | undefined,
  isFinal = false,
): AppError {
  const restart = `'close-app ${plainWord(app_name)}' and 'launch ${plainWord(app_name)}' may switch it on`
  return new AppError(
    "PLATFORM_NOT_SUPPORTED",
    `Window '${id}' of '${app_name}' exposes no accessibility tree${reason ? `: ${reason}` : ""}`,
    {
      suggestion: [...(isFinal ? [] : [restart]), workBySight(id)].join(". "),
    },
  )
}
