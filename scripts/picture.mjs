// node scripts/picture.mjs: draws what the program shows on a terminal, for the README and the front page. The output is real: the program
// lists the example website in a terminal made by `script` (util-linux). Only the address and the time are replaced.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { serveExample } from "./example-site.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const columns = 80;
const command = "sitegrove example.org --strip-url";
const size = { character: 8.43, line: 21, margin: 18, title: 38 };
// The keys are ANSI color codes: https://en.wikipedia.org/wiki/ANSI_escape_code#Select_Graphic_Rendition_parameters
const colors = { 31: "#ff8a80", 32: "#8fd694", 33: "#f2cc60" };

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = path.join(root, "docs/public/terminal.svg");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, drawing(await terminalLines()));
  process.stdout.write(`${path.relative(process.cwd(), file)}\n`);
}

/** Returns the lines that the terminal shows, with their escape sequences. */
export async function terminalLines() {
  const { homepage, close } = await serveExample();
  const program = `'${process.execPath}' '${path.join(root, "dist/cli/main.js")}'`;
  const line = `stty cols ${columns}; ${program} ls ${homepage} --strip-url --no-progress`;
  const { NO_COLOR: _, FORCE_COLOR: __, ...environment } = process.env;
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    env: { ...environment, TERM: "xterm", NO_PROXY: "127.0.0.1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let shown = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) shown += chunk;
  close();
  return shown
    .replaceAll("\r\n", "\n")
    .replaceAll(homepage, "https://example.org/")
    .replace(/ in \d+(\.\d+)? m?s,/, " in 0.3 s,")
    .trimEnd()
    .split("\n");
}

/** Draws the lines as an SVG image of a terminal. */
export function drawing(lines) {
  const width = Math.round(columns * size.character + 2 * size.margin);
  const height = size.title + (lines.length + 1) * size.line + size.margin;
  const rows = [`\u001b[32m$\u001b[39m ${command}`, ...lines].map((line, index) => {
    const y = size.title + (index + 0.7) * size.line;
    return `  <text x="${size.margin}" y="${y.toFixed(1)}" xml:space="preserve">${spans(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal: ${command}">
  <rect width="${width}" height="${height}" rx="10" fill="#16211b"/>
  <circle cx="20" cy="19" r="5.5" fill="#ff5f57"/><circle cx="39" cy="19" r="5.5" fill="#febc2e"/><circle cx="58" cy="19" r="5.5" fill="#28c840"/>
  <g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#e6ede8">
${rows.join("\n")}
  </g>
</svg>
`;
}

// Writes one element for each run of characters in the same style. Its length is fixed, because fonts differ.
function spans(line) {
  let [color, bold, dim, at] = ["", false, false, 0];
  let drawn = "";
  for (const part of line.split(/(\u001b\[\d*m)/)) {
    const code = /^\u001b\[(\d*)m$/.exec(part)?.[1];
    if (code === undefined) {
      if (part === "") continue;
      const look = `${color && ` fill="${color}"`}${bold ? ' font-weight="bold"' : ""}${dim ? ' opacity="0.6"' : ""}`;
      const x = (size.margin + at * size.character).toFixed(1);
      const length = (part.length * size.character).toFixed(1);
      drawn += `<tspan x="${x}" textLength="${length}"${look}>${escaped(part)}</tspan>`;
      at += part.length;
    } else if (code === "1") bold = true;
    else if (code === "2") dim = true;
    else if (code === "22") [bold, dim] = [false, false];
    else color = colors[code] ?? "";
  }
  return drawn;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
