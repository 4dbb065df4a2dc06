// The style sheet of the report, for light and dark, wide and narrow screens and for paper.

export const style: string = `
:root {
  color-scheme: light dark;
  --bg: light-dark(#f7f9f6, #0e1411);
  --card: light-dark(#ffffff, #151d19);
  --ink: light-dark(#14201a, #e4ece7);
  --soft: light-dark(#4f5f56, #a3b4aa);
  --line: light-dark(#dde4de, #2a3630);
  --hover: light-dark(#f0f5f0, #1b2520);
  --accent: light-dark(#0f6b43, #63d29f);
  --bar: light-dark(#2c7a55, #3fa877);
  --error: light-dark(#b3261e, #ff8d83);
  --error-bg: light-dark(#fdecea, #3b1a18);
  --warning: light-dark(#875000, #f3bb55);
  --warning-bg: light-dark(#fff3dc, #35280f);
  --info: light-dark(#2a5f8a, #8fc4ee);
  --info-bg: light-dark(#e8f1f9, #16293a);
  --good: light-dark(#0f6b43, #63d29f);
  --good-bg: light-dark(#e3f3ea, #14301f);
  --hatch: light-dark(#b3261e, #ff7a6e);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
body {
  margin: 0; background: var(--bg); color: var(--ink); font-variant-numeric: tabular-nums;
  font: 400 .9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, "Noto Sans CJK SC", "Noto Sans Arabic", sans-serif;
}
main, header, footer { max-width: 1152px; margin: 0 auto; padding: 0 16px; }
a { color: var(--accent); text-underline-offset: 2px; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
:is(td, th, li) > a.url { text-decoration: none; }
:is(td, th, li) > a.url:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
code, .url { font-family: var(--mono); font-size: .87em; }
code { background: light-dark(#eef2ee, #212c26); border-radius: 4px; padding: .1em .3em; overflow-wrap: anywhere; }
.url { overflow-wrap: anywhere; unicode-bidi: isolate; }
.soft { color: var(--soft); }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 16px; top: 8px; background: var(--card); padding: 4px 8px; z-index: 9; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

header { padding-top: 28px; }
.brand { display: flex; align-items: center; gap: 8px; color: var(--soft); font-size: .87rem; margin: 0; }
.brand svg { display: block; }
.brand rect { fill: var(--accent); }
h1 { font-size: clamp(1.6rem, 1.1rem + 2.4vw, 2.5rem); line-height: 1.15; letter-spacing: -.022em; margin: 14px 0 10px; font-weight: 680; overflow-wrap: anywhere; text-wrap: balance; }
h1 a { color: inherit; text-decoration: none; }
h1 a:hover { text-decoration: underline; }
.verdict { font-size: clamp(1.05rem, 1rem + .45vw, 1.28rem); line-height: 1.4; margin: 0 0 8px; max-width: 52rem; padding-left: 14px; border-left: 4px solid var(--good); text-wrap: pretty; }
.verdict.error { border-color: var(--error); }
.verdict.warning { border-color: light-dark(#d98b12, #f3bb55); }
.meta { color: var(--soft); font-size: .87rem; margin: 0; }
.meta > * + *::before { content: "·"; margin: 0 .5em; }

.figures { display: flex; flex-wrap: wrap; gap: 1px; background: var(--line); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; margin: 24px 0 14px; }
.figures > div { flex: 1 1 175px; background: var(--card); padding: 14px 16px 13px; min-width: 0; display: flex; flex-direction: column; }
.figures dt { color: var(--soft); font-size: .8rem; }
.figures dd { margin: 0; }
.figures .value { font-size: 1.5rem; line-height: 1.25; font-weight: 660; letter-spacing: -.02em; white-space: nowrap; }
.figures .below { color: var(--soft); font-size: .8rem; line-height: 1.35; overflow-wrap: anywhere; }

nav { margin: 18px 0 0; font-size: .9rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 4px 6px; list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: 4px 10px; border-radius: 99px; color: var(--soft); text-decoration: none; background: light-dark(#ecf1ec, #19221d); }
nav a:hover { color: var(--ink); text-decoration: underline; }

section { margin-top: 52px; }
h2 { font-size: 1.3rem; line-height: 1.25; letter-spacing: -.012em; margin: 0 0 6px; font-weight: 660; text-wrap: balance; }
h3 { font-size: .95rem; margin: 0 0 8px; font-weight: 620; }
.lead { color: var(--soft); margin: 0 0 14px; max-width: 54rem; text-wrap: pretty; }
.lead strong { color: var(--ink); font-weight: 620; }
.empty { background: var(--card); border: 1px dashed var(--line); border-radius: 10px; padding: 18px 16px; color: var(--soft); margin: 0; }
.empty.good { border-style: solid; border-color: light-dark(#bfe0cd, #24503a); background: var(--good-bg); color: var(--ink); }

.list { border: 1px solid var(--line); border-radius: 12px; background: var(--card); overflow: hidden; }
.finding + .finding { border-top: 1px solid var(--line); }
.finding > summary { display: grid; grid-template-columns: 16px 78px minmax(0, 1fr) 128px 100px; gap: 0 12px; align-items: baseline; padding: 10px 16px 10px 12px; cursor: pointer; list-style: none; }
.finding > summary::-webkit-details-marker { display: none; }
.finding > summary::before { content: ""; width: 7px; height: 7px; border: solid var(--soft); border-width: 0 1.6px 1.6px 0; transform: rotate(-45deg); justify-self: center; align-self: start; margin-top: 8px; }
.finding[open] > summary::before { transform: rotate(45deg) translate(-1px, -1px); }
.finding > summary:hover { background: var(--hover); }
.finding > summary:focus-visible { outline-offset: -2px; border-radius: 12px; }
.finding[open] > summary { background: var(--hover); }
.finding .count { font-weight: 620; text-align: right; white-space: nowrap; }
.finding .where { color: var(--soft); font-size: .87rem; text-align: right; white-space: nowrap; }
.finding .body { padding: 6px 16px 18px 118px; border-top: 1px solid var(--line); }
.finding .body h3 { overflow-wrap: anywhere; margin: 14px 0 2px; font-size: .8rem; color: var(--soft); font-weight: 500; }
.finding .body p { margin: 0; max-width: 50rem; }
.tag { display: inline-block; font-size: .78rem; line-height: 1.45; font-weight: 620; padding: .05em .6em; border-radius: 99px; white-space: nowrap; justify-self: start; }
.tag.error { color: var(--error); background: var(--error-bg); }
.tag.warning { color: var(--warning); background: var(--warning-bg); }
.tag.info { color: var(--info); background: var(--info-bg); }
.tag.good { color: var(--good); background: var(--good-bg); }
.tag.plain { color: var(--soft); background: light-dark(#eef2ee, #212c26); }
.examples { margin: 0; padding: 0; list-style: none; max-width: 100%; }
.examples li { padding: 5px 0; border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: 0 14px; align-items: baseline; }
.examples li:last-child { border: 0; }
.examples bdi { overflow-wrap: anywhere; min-width: 0; }
.examples .place { color: var(--soft); font-size: .8rem; }
.note { color: var(--soft); font-size: .87rem; margin: 10px 0 0; }

details.more { margin-top: 12px; }
details.more > summary { cursor: pointer; width: fit-content; padding: 3px 0; color: var(--soft); font-size: .92rem; }
details.more > summary:hover { color: var(--ink); }

.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 0 0 10px; padding: 0; list-style: none; font-size: .82rem; color: var(--soft); }
.legend li { display: flex; align-items: center; gap: 6px; }
.legend i { width: 13px; height: 13px; border-radius: 3px; flex: none; box-shadow: inset 0 0 0 1px light-dark(#0002, #fff2); }
.a0 { background: light-dark(#0a5c3b, #4be3a2); color: light-dark(#fff, #04150d); }
.a1 { background: light-dark(#207c53, #2fb67f); color: light-dark(#fff, #04150d); }
.a2 { background: light-dark(#5ba481, #217a58); color: light-dark(#071a11, #fff); }
.a3 { background: light-dark(#98c8ad, #1c5a44); color: light-dark(#0c2418, #eef7f2); }
.a4 { background: light-dark(#cbdfc9, #284438); color: light-dark(#17281c, #e4efe8); }
.a5 { background: light-dark(#eae0c8, #4b4130); color: light-dark(#2e2510, #f6ecd8); }
.a6 { background: light-dark(#dfe3e6, #343c42); color: light-dark(#23292e, #e8edf0); }
.hatch { background: repeating-linear-gradient(135deg, var(--hatch) 0 3px, light-dark(#fff6, #0006) 3px 8px); }

.map { position: relative; border-radius: 10px; overflow: hidden; background: var(--bg); font-size: .8rem; line-height: 1.25; isolation: isolate; }
.map div { position: absolute; overflow: hidden; }
.map .all { inset: 0; }
.map .group, .map .leaf { container-type: size; }
.map .leaf { border: 1px solid var(--bg); padding: 4px 7px; border-radius: 3px; }
.map .leaf > * { position: relative; z-index: 1; }
.map .leaf b { font-weight: 620; display: block; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.map .leaf span { display: block; white-space: nowrap; opacity: .92; }
.map .leaf i { position: absolute; z-index: 0; inset: auto 0 0 0; }
.map .leaf em { position: absolute; z-index: 1; left: 5px; bottom: 5px; font-style: normal; font-weight: 620; font-size: .74rem; background: var(--card); color: var(--error); padding: 1px 6px; border-radius: 4px; white-space: nowrap; display: none; }
@container (width < 40px) or (height < 22px) { .map .leaf b { visibility: hidden; } }
@container (width < 54px) or (height < 38px) { .map .leaf span { visibility: hidden; } }
@container (width > 140px) and (height > 78px) { .map .leaf em { display: block; } }
.map .name { position: absolute; inset: 0 1px auto 1px; height: 24px; line-height: 24px; padding: 0 7px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; color: var(--ink); text-decoration: none; font-weight: 620; z-index: 2; }
.map .name:hover { text-decoration: underline; }
.map .name:focus-visible { outline-offset: -2px; }
.map .name span { font-weight: 400; color: var(--soft); }
.map .in { inset: 24px 0 0 0; }
@container (width < 56px) or (height < 66px) { .map .name { display: none; } .map .in { inset: 0; } }
.map .full b, .map .full span { width: fit-content; max-width: 100%; background: var(--card); color: var(--ink); padding: 0 5px; opacity: 1; }
.map .full b { border-radius: 4px 4px 4px 0; } .map .full span { border-radius: 0 0 4px 4px; }
.map .leaf:hover { filter: brightness(1.06); }

.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 12px; background: var(--card); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th { text-align: left; font-weight: 500; color: var(--soft); font-size: .82rem; white-space: nowrap; }
th, td { padding: 6px 14px; vertical-align: baseline; }
thead th { border-bottom: 1px solid var(--line); padding-top: 9px; }
tbody tr + tr > * { border-top: 1px solid var(--line); }
tbody th { min-width: 9rem; font-weight: 400; color: var(--ink); font-size: inherit; white-space: normal; }
td, thead th:not(:first-child) { text-align: right; white-space: nowrap; }
td.text, thead th.text { text-align: left; }
tbody tr:hover > * { background: var(--hover); }
tbody tr:target > * { background: var(--good-bg); }
tr.bad th, tr.bad .url { color: var(--error); }
tr.other > * { color: var(--soft); }
.why { display: block; font-size: .8rem; color: var(--error); overflow-wrap: anywhere; }
.d1 { padding-left: 32px; } .d2 { padding-left: 50px; } .d3 { padding-left: 68px; } .d4 { padding-left: 86px; } .d5 { padding-left: 104px; }
.map b, .map .name { unicode-bidi: isolate; }
td i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 7px; box-shadow: inset 0 0 0 1px light-dark(#0002, #fff2); }

.chart { position: relative; background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 30px 16px 30px; margin: 0; }
.chart svg { display: block; width: 100%; height: 210px; overflow: visible; }
.chart .bars { fill: var(--bar); }
.chart .bars .odd { fill: light-dark(#c2521a, #ff9a5c); }
.chart .bars rect:hover { fill: light-dark(#0a4a30, #8ff0c2); }
.chart .base { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.chart .axis, .chart .marks { position: absolute; left: 16px; right: 16px; font-size: .76rem; color: var(--soft); }
.chart .axis { bottom: 6px; height: 18px; }
.chart .marks { top: 8px; height: 18px; }
.chart .axis span, .chart .marks span { position: absolute; white-space: nowrap; transform: translateX(-50%); }
.chart .axis .first, .chart .marks .first { transform: none; }
.chart .axis .last, .chart .marks .last { transform: translateX(-100%); }
.chart .marks .odd { color: light-dark(#a34413, #ff9a5c); font-weight: 620; }

footer { margin-top: 56px; padding-bottom: 48px; color: var(--soft); font-size: .87rem; display: flex; flex-wrap: wrap; gap: 12px 20px; align-items: center; justify-content: space-between; }
.button { display: inline-block; border: 1px solid var(--line); background: var(--card); color: var(--ink); border-radius: 8px; padding: 8px 14px; text-decoration: none; font-weight: 560; font-size: .92rem; }
.button:hover { background: var(--hover); }

@media (max-width: 900px) {
  .finding > summary { grid-template-columns: 16px 78px minmax(0, 1fr) 100px; }
  .finding .where { display: none; }
  .finding .body { padding-left: 44px; }
}
@media (max-width: 640px) {
  header { padding-top: 18px; }
  section { margin-top: 40px; }
  .figures .value { font-size: 1.3rem; white-space: normal; }
  .finding > summary { grid-template-columns: 12px minmax(0, 1fr) auto; gap: 2px 8px; padding: 10px 12px 10px 8px; }
  .finding > summary .tag { grid-column: 2; grid-row: 1; }
  .finding > summary .count { grid-column: 3; grid-row: 1; }
  .finding > summary .says { grid-column: 2 / -1; grid-row: 2; }
  .finding .body { padding-left: 28px; padding-right: 12px; }
  .chart { padding-left: 10px; padding-right: 10px; }
  .chart svg { height: 150px; }
  .chart .axis, .chart .marks { left: 10px; right: 10px; }
  .minor { display: none; }
  table { font-size: .82rem; }
  th, td { padding: 6px 5px; }
  thead th { font-size: .75rem; }
  tbody th { min-width: 3rem; }
  .d1 { padding-left: 18px; } .d2 { padding-left: 28px; } .d3 { padding-left: 38px; } .d4 { padding-left: 48px; } .d5 { padding-left: 58px; }
}
@media print {
  :root { color-scheme: light; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  html { font-size: 12px; }
  body { background: #fff; }
  th, td { padding-left: 8px; padding-right: 8px; }
  main, header, footer { max-width: none; padding: 0; }
  header { padding-top: 0; }
  nav, .skip, footer .button { display: none; }
  section { margin-top: 26px; break-inside: auto; }
  h2, h3, .lead { break-after: avoid; }
  .map { break-inside: avoid; zoom: .8; }
  .chart, .figures, tr, .finding > summary { break-inside: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; opacity: 1; display: block; }
  .scroll { overflow: visible; }
  a { color: inherit; text-decoration: none; }
  .finding > summary { grid-template-columns: 16px 70px minmax(0, 1fr) 110px 80px; }
  .finding .where { display: block; }
  .figures > div { padding: 8px 10px; }
  .figures .value { font-size: 1.2rem; }
}
@media (forced-colors: active) {
  .map .leaf, .map .group { border: 1px solid CanvasText; }
  .bars { fill: CanvasText; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
`;
