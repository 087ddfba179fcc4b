/** Chromium with its tree switched on and nothing that asks the user. Add a profile, a size and a page. */
export const CHROMIUM: readonly string[] = [
  "chromium",
  "--force-renderer-accessibility",
  // --test-type hides the warning about --no-sandbox.
  ...(process.getuid?.() === 0 ? ["--no-sandbox", "--test-type"] : []),
  "--no-first-run",
  "--no-default-browser-check",
  "--disable-gpu",
  "--password-store=basic",
]
