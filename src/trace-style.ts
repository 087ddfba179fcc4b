/** How the page of a trace looks, in light and in dark. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--line:#dde2e9;--paper:#f6f7f9;--card:#fff;
--ok:#1f8a5b;--bad:#c4314b;--badly:#fdf1f3;--chip:#eef1f5;--accent:#3355c8}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8ee;--soft:#98a3b3;--line:#2c333d;--paper:#14181d;
--card:#1b2027;--ok:#4cc38a;--bad:#ff7d92;--badly:#2b1d22;--chip:#252c35;--accent:#8fa8ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
header,main{max-width:1080px;margin:0 auto;padding:0 24px}
header{padding-top:32px}
h1{font-size:22px;margin:0 0 8px;letter-spacing:-.01em}
code,pre,.chip,.said,.took,time,aside small{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.facts{list-style:none;display:flex;flex-wrap:wrap;gap:4px 24px;margin:0;padding:0;color:var(--soft)}
.facts b{color:var(--ink);font-size:17px;font-variant-numeric:tabular-nums}
.when{margin:2px 0 0;color:var(--soft);font-size:13px}
.strip{position:relative;height:30px;margin:16px 0 24px;border-radius:6px;background:var(--chip);overflow:hidden}
.strip a{position:absolute;top:6px;bottom:6px;border-radius:2px;opacity:.85}
.strip a:hover{opacity:1;top:2px;bottom:2px}
.strip .ok{background:var(--ok)}.strip .bad{background:var(--bad)}
main{padding-bottom:64px}
article{display:grid;grid-template-columns:116px minmax(0,1fr);gap:0 20px;scroll-margin-top:12px}
aside{text-align:right;padding-top:13px;color:var(--soft);font-size:12px;line-height:1.35}
aside small{display:block;font-size:11px;opacity:.8}
section{position:relative;margin:0 0 10px;padding:10px 16px 8px;background:var(--card);border:1px solid var(--line);border-radius:8px}
section::before{content:"";position:absolute;left:-15px;top:19px;width:9px;height:9px;border-radius:50%;background:var(--ok)}
.bad section::before{background:var(--bad)}
section::after{content:"";position:absolute;left:-11px;top:32px;bottom:-24px;width:1px;background:var(--line)}
article:last-child section::after{display:none}
article.item section{margin-left:28px}
article.item section::before{left:-43px}article.item section::after{left:-39px}
article:target section{border-color:var(--accent);box-shadow:0 0 0 2px color-mix(in srgb,var(--accent) 25%,transparent)}
.bad section{background:var(--badly)}
h2{display:flex;flex-wrap:wrap;align-items:center;gap:4px 8px;margin:0;font-size:15px;font-weight:400}
h2 code{font-weight:700}
.chip{background:var(--chip);border-radius:5px;padding:1px 7px;font-size:12.5px;overflow-wrap:anywhere}
.chip i{font-style:normal;color:var(--soft)}
.took{margin-left:auto;color:var(--soft);font-size:12.5px;font-variant-numeric:tabular-nums;white-space:nowrap}
.said{margin:4px 0 2px;font-size:12.5px;color:var(--soft);overflow-wrap:anywhere}
.said span+span::before{content:"·";margin:0 7px}
.error{margin:5px 0 3px;overflow-wrap:anywhere}
.error b{color:var(--bad);font-size:13px;margin-right:6px}
.error small{display:block;color:var(--soft)}
.shots{display:flex;flex-wrap:wrap;gap:14px;margin:8px 0 6px}
figure{margin:0;width:min(340px,100%)}
figcaption{font-size:12px;color:var(--soft)}
.shot,.large{background-size:100% 100%;background-repeat:no-repeat;border:1px solid var(--line);border-radius:6px;padding:0}
.shot{display:block;width:100%;cursor:zoom-in}
.large{width:min(96vw,var(--w));max-height:94vh;margin:auto}
.large::backdrop{background:rgb(0 0 0/.65)}
details{font-size:13px;color:var(--soft);display:inline-block;margin-right:16px;max-width:100%;vertical-align:top}
details[open]{display:block;margin-right:0}
summary{cursor:pointer}
pre{margin:6px 0;padding:10px 12px;max-height:420px;overflow:auto;background:var(--paper);border:1px solid var(--line);border-radius:6px;color:var(--ink);font-size:12px;line-height:1.45;white-space:pre-wrap;overflow-wrap:anywhere}
.odd{font-style:normal;color:var(--bad)}
@media (max-width:640px){article{grid-template-columns:minmax(0,1fr)}aside{text-align:left;padding:0 0 2px 2px}
aside small{display:inline;margin-left:8px}section::before,section::after{display:none}article.item section{margin-left:14px}}
@media print{details{display:none}}
`
