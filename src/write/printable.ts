// Makes text from a website safe for a terminal: a value stays on one line and cannot control the terminal. This escapes the control
// characters C0 (with tab and line ends), DEL and C1, the line and paragraph separators, the characters that change the direction of
// writing (https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters) and U+FEFF. In GitHub's workflows, it also breaks up
// commands to the runner, which reads them from the output.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands

/** Escapes all these characters, such as ESC as `\u001b`. */
export function printable(text: string): string {
  const line = control.test(text) ? text.replace(allControls, escaped) : text;
  return command.test(line) && process.env["GITHUB_ACTIONS"] ? line.replace(allCommands, brokenUp) : line;
}

/** Whether `printable` would leave URLs unchanged, checked on all of them joined to one text. */
export function isPrintable(urls: string): boolean {
  return !control.test(urls) && !hasCommands(urls);
}

/** Whether URLs may contain a command to GitHub's runner. */
export function hasCommands(urls: string): boolean {
  return urls.includes("##[") && Boolean(process.env["GITHUB_ACTIONS"]);
}

/** Writes any value as JSON that is safe to print. */
export function jsonOf(value: unknown, indent?: number): string {
  return printableJson(JSON.stringify(value, undefined, indent));
}

/**
 * Escapes terminal control characters that JSON would allow unescaped. The value stays the same. The text may contain line ends
 * between values.
 */
export function printableJson(json: string): string {
  const text = controlInJson.test(json) ? json.replace(allControlsInJson, escaped) : json;
  return text.includes("##[") && process.env["GITHUB_ACTIONS"] ? text.replaceAll("##[", "\\u0023#[") : text;
}

// C0 is not among them, because JSON.stringify escapes it.
const inJson = "\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff";
// Each expression exists twice, because `test` remembers its position if the expression has the flag `g`.
const control = new RegExp(`[\\u0000-\\u001f${inJson}]`);
const allControls = new RegExp(control, "g");
const controlInJson = new RegExp(`[${inJson}]`);
const allControlsInJson = new RegExp(controlInJson, "g");

// Commands are `::error::` at the start of a line, and the older `##[error]` anywhere.
const command = /^\s*::|##\[/;
const allCommands = /^\s*::|##\[/g;

function brokenUp(start: string): string {
  return start.replace(/[:#]/, escaped);
}

/** Escapes one character: ESC becomes `\u001b`. */
export function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
