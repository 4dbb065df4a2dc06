// Gives each cell of a table the name of its column, so that a phone can show a row as a list: theme/site.css.

/** What is used of a token of markdown-it. */
export interface Token {
  readonly type: string;
  readonly content: string;
  readonly children: readonly Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

export function labelCells(tokens: readonly Token[]): void {
  let names: string[] = [];
  let column = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.type === "thead_open") names = [];
    else if (token.type === "tr_open") column = 0;
    else if (token.type === "th_open") names.push(plain(tokens[index + 1]?.content ?? ""));
    else if (token.type === "td_open") token.attrSet("data-label", names[column++] ?? "");
  }
}

function plain(markdown: string): string {
  return markdown.replaceAll(/[`*]/g, "");
}
