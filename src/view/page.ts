/// <reference path="./texts.d.ts" />
import script from "./client.js" with { type: "text" }
import style from "./style.css" with { type: "text" }

/** The page. It loads nothing else, and runs only its own script. */
export function page(): Response {
  const nonce = crypto.getRandomValues(new Uint8Array(16)).toBase64()
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return new Response(htmlWith(nonce), {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy.join("; "),
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    },
  })
}

const htmlWith = (nonce: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>agent-desktop</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<header>
<h1><span id="live" class="live"></span><span id="name">Desktop</span></h1>
<p id="about"></p>
<p id="state" role="status"></p>
<button id="pause" type="button" aria-pressed="false">Pause agents</button>
</header>
<main>
<section id="stage" class="stage" aria-label="Picture of the desktop">
<div id="frame" class="frame">
<canvas id="picture" width="16" height="9" role="img" aria-label="The desktop as it is now"></canvas>
<div id="mark" class="mark" hidden><span id="label"></span></div>
</div>
</section>
<section class="outline" aria-label="Outline">
<div class="head"><h2>Outline</h2><select id="windows" aria-label="Window"></select></div>
<p id="note" class="note" hidden></p>
<ul id="lines" role="listbox" aria-label="Elements of the window" tabindex="0"></ul>
</section>
<section class="commands" aria-label="Commands">
<div class="head"><h2>Commands</h2><span id="count"></span></div>
<ol id="commands" tabindex="0" aria-label="Commands, newest first"></ol>
</section>
</main>
<script nonce="${nonce}">${script}</script>
</body>
</html>
`
