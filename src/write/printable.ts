// Makes text from a website safe for a terminal: one value stays on one line and cannot control the terminal. Escaped
// are the control characters C0 (with tab and line ends), DEL and C1, the line and paragraph separators, the characters
// that change the direction of writing (https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters) and
// U+FEFF; and in GitHub's workflows the commands to its runner, which are lines like any other.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands

/** Escapes all these characters, as `\u001b`. */
export function printable(text: string): string {
  const line = steering.test(text) ? text.replace(everySteering, escaped) : text;
  return command.test(line) && process.env["GITHUB_ACTIONS"] ? line.replace(everyCommand, brokenUp) : line;
}

/** Whether `printable` would leave URLs unchanged, checked on all of them joined to one text. */
export function isPrintable(urls: string): boolean {
  return !steering.test(urls) && !hasCommands(urls);
}

/** Whether URLs may contain a command to GitHub's runner. */
export function hasCommands(urls: string): boolean {
  return urls.includes("##[") && Boolean(process.env["GITHUB_ACTIONS"]);
}

/** Any value as JSON that is safe to print. */
export function jsonOf(value: unknown, indent?: number): string {
  return printableJson(JSON.stringify(value, undefined, indent));
}

/**
 * Escapes terminal control characters that JSON would allow unescaped. The value stays the same. The text may contain line ends
 * between values.
 */
export function printableJson(json: string): string {
  const text = steeringInJson.test(json) ? json.replace(everySteeringInJson, escaped) : json;
  return text.includes("##[") && process.env["GITHUB_ACTIONS"] ? text.replaceAll("##[", "\\u0023#[") : text;
}

// JSON.stringify escapes C0 itself.
const inJson = "\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff";
// Each expression exists twice, because `test` with the flag `g` would remember a position.
const steering = new RegExp(`[\\u0000-\\u001f${inJson}]`);
const everySteering = new RegExp(steering, "g");
const steeringInJson = new RegExp(`[${inJson}]`);
const everySteeringInJson = new RegExp(steeringInJson, "g");

// `::error::` at the start of a line, and the older `##[error]` anywhere.
const command = /^\s*::|##\[/;
const everyCommand = /^\s*::|##\[/g;

function brokenUp(start: string): string {
  return start.replace(/[:#]/, escaped);
}

/** The character as `\\u001b`. */
export function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
