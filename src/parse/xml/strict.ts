// Checks for `strict` only: flaws that do not prevent reading. https://www.w3.org/TR/xml/ and
// https://www.w3.org/TR/xml-names/. Each returns the flaw, or undefined.
import { isSpace, type XmlAttributes } from "./attributes.ts";
import type { XmlName } from "./names.ts";
import { decodeReferences, isXmlCharacter, type ReferenceWatcher } from "./text.ts";

/** The flaw, and its position in the text. */
export interface Flaw {
  readonly value: string;
  readonly at: number;
}

/** Checks text between tags. `isDecoded` means that its references were already checked. */
export function flawOfText(text: string, isDecoded: boolean): Flaw | undefined {
  const end = text.indexOf("]]>");
  const flaws = [
    end === -1 ? undefined : { value: "]]>", at: end },
    flawOfCharacters(text),
    isDecoded ? undefined : flawOfReferences(text),
  ];
  return flaws.reduce((first, flaw) =>
    flaw !== undefined && (first === undefined || flaw.at < first.at) ? flaw : first,
  );
}

/** Returns how much of an incomplete text can be checked: up to a reference, a `]]>` or a character that may be incomplete. */
export function endOfChecked(buffer: string, from: number): number {
  let end = buffer.length;
  const reference = buffer.lastIndexOf("&");
  if (reference >= from && end - reference < longestReference && !buffer.includes(";", reference)) end = reference;
  while (end > from && (buffer[end - 1] === "]" || /[\ud800-\udbff]/.test(buffer[end - 1]!))) end--;
  return end;
}

const longestReference = 1024;

/** Checks the name of an element. */
export function flawOfName(name: XmlName): string | undefined {
  // https://www.w3.org/TR/xml-names/#xmlReserved: "Element names MUST NOT have the prefix xmlns."
  if (!isQualifiedName(name.raw) || name.prefix === "xmlns") return name.raw;
  return name.bound ? undefined : name.raw;
}

/** Checks the attributes of a start tag: their names and values, and whether one is repeated. */
export function flawOfTag(
  attributes: XmlAttributes,
  namespaceOf: (prefix: string) => string | undefined,
): string | undefined {
  const seen = new Set<string>();
  for (let index = 0; index < attributes.count; index++) {
    const name = attributes.name(index);
    if (!isQualifiedName(name)) return name;
    const colon = name.indexOf(":");
    const prefix = colon === -1 ? "" : name.slice(0, colon);
    if (prefix !== "" && prefix !== "xmlns" && namespaceOf(prefix) === undefined) return name;
    const key = prefix === "" || prefix === "xmlns" ? name : `${namespaceOf(prefix)} ${name.slice(colon + 1)}`;
    if (seen.has(key)) return name;
    seen.add(key);
    const raw = attributes.raw(index);
    const flaw = raw.includes("<") ? "<" : (flawOfCharacters(raw) ?? flawOfReferences(raw))?.value;
    if (flaw !== undefined) return flaw;
    if (prefix === "xmlns" || name === "xmlns") {
      const isReserved = isReservedDeclaration(prefix === "" ? "" : name.slice(colon + 1), raw);
      if (isReserved || (prefix === "xmlns" && raw === "")) return name;
    }
  }
  return undefined;
}

// Two prefixes are reserved for two namespaces, and vice versa: https://www.w3.org/TR/xml-names/#xmlReserved
function isReservedDeclaration(prefix: string, namespace: string): boolean {
  if (prefix === "xml") return namespace !== xmlNamespace;
  return prefix === "xmlns" || namespace === xmlNamespace || namespace === "http://www.w3.org/2000/xmlns/";
}

const xmlNamespace = "http://www.w3.org/XML/1998/namespace";

/** Whether the buffer holds the whole target of an instruction. */
export function hasTarget(buffer: string, from: number): boolean {
  return targetEnd.test(buffer.slice(from, from + maxTarget));
}

/** Checks an instruction, or the beginning of a long one. */
export function flawOfInstruction(text: string, isDeclaration: boolean): string | undefined {
  if (isDeclaration) return declaration.test(text) ? undefined : text.slice(0, 80);
  // Targets are names (https://www.w3.org/TR/xml/#NT-PITarget) without colons (https://www.w3.org/TR/xml-names/#Conformance).
  const end = text.slice(2, 2 + maxTarget).search(targetEnd);
  const target = end === -1 ? text.slice(2, 2 + maxTarget) : text.slice(2, 2 + end);
  const isEnded = isSpace(text.charCodeAt(2 + end)) || text.startsWith("?>", 2 + end);
  return end > 0 && isEnded && ncName.test(target) && target.toLowerCase() !== "xml"
    ? undefined
    : `<?${target.slice(0, 80)}`;
}

// https://www.w3.org/TR/xml/#NT-XMLDecl
const declaration =
  /^<\?xml\s+version\s*=\s*(["'])1\.[0-9]+\1(?:\s+encoding\s*=\s*(["'])[A-Za-z][A-Za-z0-9._-]*\2)?(?:\s+standalone\s*=\s*(["'])(?:yes|no)\3)?\s*\?>$/;
const targetEnd = /[\s?]/;
const maxTarget = 1024;

/** Finds the first character that XML does not allow. */
export function flawOfCharacters(text: string): Flaw | undefined {
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at)!;
    if (!isXmlCharacter(code)) return { value: JSON.stringify(String.fromCodePoint(code)), at };
    if (code > 0xffff) at++;
  }
  return undefined;
}

function flawOfReferences(text: string): Flaw | undefined {
  let flaw: Flaw | undefined;
  const watcher: ReferenceWatcher = { onReference: (_, value, at) => (flaw ??= { value, at }) };
  decodeReferences(text, watcher);
  return flaw;
}

function isQualifiedName(name: string): boolean {
  // Matches nearly every name, and is much faster than an expression for all of Unicode.
  if (/^[A-Za-z][A-Za-z0-9]*$/.test(name)) return true;
  const parts = name.split(":");
  return parts.length <= 2 && parts.every((part) => ncName.test(part));
}

// https://www.w3.org/TR/xml-names/#NT-NCName
const nameStart =
  "A-Z_a-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c-\\u200d\\u2070-\\u218f" +
  "\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}";
const ncName = new RegExp(`^[${nameStart}][${nameStart}\\-.0-9\\u00b7\\u0300-\\u036f\\u203f-\\u2040]*$`, "u");
