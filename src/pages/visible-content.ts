// Finds what a reader of an HTML page sees: its title, texts, tags, and the URLs of links and media. Ignores scripts, styles, comments,
// other attributes (classes, nonces, ids), extra white space, and hashes in the names of assets. Takes linear time.
import { type Attributes, readAttributes, tagName } from "../discover/html-tags.ts";

/** The text between two tags, or a tag with the attributes that a reader sees or follows. */
interface VisiblePart {
  readonly kind: "text" | "tag";
  readonly text: string;
  /** Whether the part is between `<a>` and `</a>`. */
  readonly isLink: boolean;
}

/** Returns everything that a reader sees as one text, to compare pages. */
export function visibleContent(html: string): string {
  return Array.from(visibleParts(html), ({ text }) => text).join("\n");
}

/** Returns the texts that a reader sees, each as one line. `links` says whether to include the texts of links. */
export function visibleText(html: string, { links = true }: { readonly links?: boolean } = {}): string[] {
  return [...visibleParts(html)].flatMap(({ kind, text, isLink }) =>
    kind === "text" && (links || !isLink) ? [text] : [],
  );
}

function* visibleParts(html: string): Generator<VisiblePart, void> {
  // Collects the text between two tags, which comments may divide.
  let text = "";
  let isLink = false;
  const words = function* (): Generator<VisiblePart, void> {
    const trimmed = text.replaceAll(/\s+/g, " ").trim();
    if (trimmed !== "") yield { kind: "text", text: trimmed, isLink };
    text = "";
  };
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    text += html.slice(at, open < 0 ? html.length : open);
    if (open < 0) break;
    if (html.startsWith("<!--", open)) {
      at = after(html, "-->", open + 4);
      continue;
    }
    const name = tagName(html, open + 1);
    // A `<` that begins neither a tag nor a declaration is text.
    if (name === "" && !/[/!?]/.test(html.charAt(open + 1))) {
      text += "<";
      at = open + 1;
      continue;
    }
    yield* words();
    const { attributes, end } = readAttributes(html, open + 1 + name.length);
    at = end;
    if (name === "a") isLink = true;
    else if (html.startsWith("</", open) && tagName(html, open + 2) === "a") isLink = false;
    if (unseen.has(name)) {
      // Without an end, the rest of the page is hidden, as in browsers.
      const close = indexOfClosing(html, name, end);
      at = close < 0 ? html.length : close;
    } else if (name !== "" && !inHead.has(name))
      yield { kind: "tag", text: `<${name}${shownAttributes(name, attributes)}>`, isLink };
  }
  yield* words();
}

const unseen = new Set(["script", "style", "template"]);
// Readers do not see these tags.
const inHead = new Set(["meta", "link", "base"]);
// The attributes that a reader sees or follows.
const shown: ReadonlyMap<string, readonly string[]> = new Map([
  ["a", ["href"]],
  ["img", ["src", "alt"]],
  ["source", ["src"]],
  ["video", ["src", "poster"]],
  ["iframe", ["src"]],
]);

function shownAttributes(name: string, attributes: Attributes): string {
  const found = (shown.get(name) ?? []).map((key) => {
    const value = attributes[key];
    return value === undefined ? "" : ` ${key}=${key === "alt" ? value : withoutHash(value)}`;
  });
  return found.join("");
}

// A build may give assets new names, such as `/_astro/photo.DfK3k9a_Z1x.webp`, `app-8f3a2b1c.js` or `style.css?v=17`.
function withoutHash(url: string): string {
  const [path = "", query = ""] = url.split(/(?=[?#])/, 2);
  if (!/\.(?!html?$)[a-z]\w{1,4}$/i.test(path)) return url;
  const plain = path.replaceAll(/[._-](?=[\w-]{0,30}\d)[\w-]{6,32}(?=[._](?:[\w-]+\.)?\w{2,5}$)/g, "");
  return plain + query.replaceAll(/^\?(?:v|ver|hash|h|t)=[^&]*$/gi, "");
}

function after(html: string, text: string, from: number): number {
  const at = html.indexOf(text, from);
  return at < 0 ? html.length : at + text.length;
}

function indexOfClosing(html: string, name: string, from: number): number {
  const pattern = new RegExp(`</${name}(?=[\\s/>])`, "gi");
  pattern.lastIndex = from;
  return pattern.exec(html)?.index ?? -1;
}
