// What a website said to tell versions of a document apart by, sent back to it: https://www.rfc-editor.org/rfc/rfc9110#section-13
import { type FetchedDocument, type HeaderList, header } from "../exchange.ts";

/** Apache adds the coding to an ETag when it compresses, and does not know it again: it knows the bare form. */
const codingSuffix = /(?:--?|;)(?:gzip|br|zstd|deflate)(?="?$)/i;
/** Whatever an archive holds, nothing but a header goes out. */
const sendable = /^[\x21-\x7e\x80-\xff](?:[\x20-\x7e\x80-\xff]{0,510}[\x21-\x7e\x80-\xff])?$/;

/** Undefined where there is nothing to ask with. */
export function conditionalHeaders({ headers, came }: FetchedDocument): Readonly<Record<string, string>> | undefined {
  const date = sent(header(headers, "last-modified"));
  // Where the same bytes came in spite of an ETag, the website, or what stands before it, does not look at it.
  const isIgnored = came === "same-payload" && date !== undefined;
  const etag = isIgnored ? undefined : sent(header(headers, "etag"));
  // Sent back, an asterisk means any version.
  const tag = etag?.replaceAll(/"[^"]*"/g, "").includes("*") ? undefined : etag;
  const tags = tag === undefined ? [] : [...new Set([tag, tag.replace(codingSuffix, "")])];
  const conditional = {
    ...(tags.length === 0 ? {} : { "if-none-match": tags.join(", ") }),
    // Letter for letter: nginx compares it as text.
    ...(date === undefined ? {} : { "if-modified-since": date }),
  };
  return Object.keys(conditional).length === 0 ? undefined : conditional;
}

/** Whether a 304 is about what was asked for. It may carry another form of the ETag, or none. */
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
