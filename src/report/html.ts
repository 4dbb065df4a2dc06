// HTML that cannot be broken by what is put into it: a template escapes every value, unless it is HTML that was made the same way.
// In text and in attributes with double quotes, which are the only places where templates have values.

/** HTML that may stand in a page as it is. Only this file makes it. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  static template(strings: TemplateStringsArray, values: readonly Value[]): Html {
    return new Html(strings.reduce((text, part, index) => `${text}${toText(values[index - 1])}${part}`));
  }

  /** For what is ours: the style sheet, the script, and JSON that was made safe for its place. */
  static trusted(text: string): Html {
    return new Html(text);
  }

  toString(): string {
    return this.#text;
  }
}

/** What a template takes. Lists are joined; what is not there leaves nothing. */
export type Value = Html | string | number | undefined | false | readonly Value[];

/** `` html`<b>${name}</b>` ``. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return Html.template(strings, values);
}

function toText(value: Value): string {
  if (value === undefined || value === false) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "object") return value.map(toText).join("");
  return escaped(String(value));
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character]!);
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};
