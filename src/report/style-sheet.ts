// The one style sheet of the page. The policy of the page forbids `style=` attributes: what has a place of its own gets an id, and
// its place goes in here.

export class StyleSheet {
  readonly #wide = new Set<string>();
  readonly #narrow = new Set<string>();

  add(selector: string, declarations: string): void {
    this.#wide.add(`${selector}{${declarations}}`);
  }

  /** For phones, in place of what `add` says. */
  addNarrow(selector: string, declarations: string): void {
    this.#narrow.add(`${selector}{${declarations}}`);
  }

  /** `base`: what is the same on every page. */
  toString(base: string): string {
    const narrow = this.#narrow.size === 0 ? "" : `@media screen and (max-width:640px){${[...this.#narrow].join("")}}`;
    return `${compact(base)}${[...this.#wide].join("")}${narrow}`;
  }
}

/** Two digits of a percentage are a tenth of a pixel. */
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
