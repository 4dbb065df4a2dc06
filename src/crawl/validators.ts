// Conditional requests: sends back the ETag and Last-Modified of a document.
// https://www.rfc-editor.org/rfc/rfc9110#section-13
import { type FetchedDocument, type HeaderList, header } from "../model/exchange.ts";

// Apache adds the coding to an ETag when it compresses, but does not recognize that form: it needs the bare one.
const codingSuffix = /(?:--?|;)(?:gzip|br|zstd|deflate)(?="?$)/i;
// An archive may come from anybody: only a valid header value is sent.
const sendable = /^[\x21-\x7e\x80-\xff](?:[\x20-\x7e\x80-\xff]{0,510}[\x21-\x7e\x80-\xff])?$/;

/** Undefined if the document has neither. */
export function conditionalHeaders({ headers, came }: FetchedDocument): Readonly<Record<string, string>> | undefined {
  const date = sent(header(headers, "last-modified"));
  // The same bytes came in spite of an ETag: the website, or a proxy before it, ignores it.
  const isIgnored = came === "same-payload" && date !== undefined;
  const etag = isIgnored ? undefined : sent(header(headers, "etag"));
  // In If-None-Match, an asterisk means any version.
  const tag = etag?.replaceAll(/"[^"]*"/g, "").includes("*") ? undefined : etag;
  const tags = tag === undefined ? [] : [...new Set([tag, tag.replace(codingSuffix, "")])];
  const conditional = {
    ...(tags.length === 0 ? {} : { "if-none-match": tags.join(", ") }),
    // Exactly as received: nginx compares it as text.
    ...(date === undefined ? {} : { "if-modified-since": date }),
  };
  return Object.keys(conditional).length === 0 ? undefined : conditional;
}

/** Whether a 304 is about the requested version. It may carry another form of the ETag, or none. */
export function acceptsAnswer(conditional: Readonly<Record<string, string>>, headers: HeaderList): boolean {
  const tag = header(headers, "etag");
  const asked = conditional["if-none-match"];
  if (tag === undefined || asked === undefined) return true;
  return asked.split(", ").some((one) => bare(one) === bare(tag));
}

function sent(value: string | undefined): string | undefined {
  return value !== undefined && sendable.test(value) ? value : undefined;
}

function bare(tag: string): string {
  return tag.trim().replace(/^W\//, "").replace(codingSuffix, "");
}
