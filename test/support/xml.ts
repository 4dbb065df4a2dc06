// Reads XML with saxes, a strict parser that shares no code with ours.
import { SaxesParser } from "saxes";

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The text of the element itself, without that of its children. */
  text: string;
  readonly children: Element[];
}

/** The root element. Throws if the text is not well-formed. */
export function readXml(text: string): Element {
  const document: Element = { name: "", attributes: {}, text: "", children: [] };
  const open = [document];
  const parser = new SaxesParser();
  const addText = (piece: string) => {
    (open.at(-1) ?? document).text += piece;
  };
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    const element: Element = { name, attributes, text: "", children: [] };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => open.pop());
  parser.write(text).close();
  const [root] = document.children;
  if (root === undefined) throw new Error("no root element");
  return root;
}

/** The texts of an element's children, by name. */
export function textsOf({ children }: Element): Record<string, string> {
  return Object.fromEntries(children.map(({ name, text }) => [name, text]));
}
