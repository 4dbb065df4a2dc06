// The only style sheet of the report. Its policy forbids `style=` attributes: an element with its own position gets an
// id, and a rule in this sheet.

export class StyleSheet {
  readonly #wide = new Set<string>();
  readonly #narrow = new Set<string>();

  add(selector: string, declarations: string): void {
    this.#wide.add(`${selector}{${declarations}}`);
  }

  /** For phones, in place of `add`. */
  addNarrow(selector: string, declarations: string): void {
    this.#narrow.add(`${selector}{${declarations}}`);
  }

  /** `base`: the rules of every report. */
  toString(base: string): string {
    const narrow = this.#narrow.size === 0 ? "" : `@media screen and (max-width:640px){${[...this.#narrow].join("")}}`;
    return `${compact(base)}${[...this.#wide].join("")}${narrow}`;
  }
}

// Two digits of a percentage are a tenth of a pixel.
export function percentage(share: number): string {
  return `${Number((share * 100).toFixed(2))}%`;
}

function compact(css: string): string {
  return css
    .replaceAll(/\/\*.*?\*\//gs, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([{};,>]) ?/g, "$1")
    .replaceAll(/: /g, ":")
    .trim();
}
