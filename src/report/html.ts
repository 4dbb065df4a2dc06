// HTML that inserted values cannot break: a template escapes every value, unless it is HTML from a template. Values may
// be in text and in attributes with double quotes, which are the only places where our templates have them.

/** HTML that is safe to insert. Only this file creates it. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  static template(strings: TemplateStringsArray, values: readonly Value[]): Html {
    return new Html(strings.reduce((text, part, index) => `${text}${toText(values[index - 1])}${part}`));
  }

  /** For our own content: the style sheet, the script, and JSON that is safe where it is inserted. */
  static trusted(text: string): Html {
    return new Html(text);
  }

  toString(): string {
    return this.#text;
  }
}

/** The values of a template. Lists are joined; absent values are empty. */
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
