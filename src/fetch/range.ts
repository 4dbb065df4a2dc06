// Continues a broken body with a range request, but only if a strong ETag proves that the rest belongs to the same version.
// https://www.rfc-editor.org/rfc/rfc9110#name-if-range
import { type HeaderList, header } from "../model/exchange.ts";
import { problem } from "../model/problem.ts";
import { ConnectionProblem } from "./failure.ts";
import { type Head, withLength } from "./request.ts";

/** The request for the rest of a body, and the check of its response. */
export interface RestRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the rest of the body, or undefined if the response is anything else. */
  restIn(head: Head): AsyncIterator<Uint8Array> | undefined;
}

/** Returns the request for the rest of a body after `received` bytes; undefined without a strong ETag, or if ranges count differently. */
export function requestForRest({ headers, isDecoded }: Head, received: number): RestRequest | undefined {
  const etag = header(headers, "etag")?.trim() ?? "";
  // Ranges count the bytes of the content encoding, but not of a transfer encoding.
  const isCounted = !isDecoded && /^(?:chunked)?$/i.test(header(headers, "transfer-encoding")?.trim() ?? "");
  if (!/^"[\x21\x23-\x7e\x80-\xff]*"$/.test(etag) || !isCounted) return undefined;
  return {
    headers: { range: `bytes=${received}-`, "if-range": etag },
    restIn(head) {
      const length = lengthOfRest(head, received);
      const isSame = header(head.headers, "etag")?.trim() === etag && hasSameEncoding(head.headers, headers);
      const announced = header(headers, "content-length");
      if (length === undefined || !isSame) return undefined;
      const fits = announced === undefined || Number(announced) === received + length;
      return fits ? withLength(head.body, length, refuseLonger) : undefined;
    },
  };
}

// `Content-Range` must go from the first missing byte to the last byte of the document.
function lengthOfRest({ status, headers, isDecoded }: Head, received: number): number | undefined {
  const [, first, last, size] =
    /^bytes (\d+)-(\d+)\/(\d+)$/i.exec(header(headers, "content-range")?.trim() ?? "") ?? [];
  const isRest = status === 206 && Number(first) === received && Number(last) === Number(size) - 1;
  const length = Number(last) - received + 1;
  return isRest && !isDecoded && length > 0 && Number.isSafeInteger(length) ? length : undefined;
}

// A response to If-Range may omit headers that have not changed.
function hasSameEncoding(headers: HeaderList, before: HeaderList): boolean {
  const encoding = header(headers, "content-encoding");
  return encoding === undefined || encoding === header(before, "content-encoding");
}

function refuseLonger(): never {
  throw new ConnectionProblem(problem("http-protocol", { value: "longer than Content-Range" }));
}
