// The target of a redirect. https://www.rfc-editor.org/rfc/rfc9110#name-redirection-3xx
import { type HeaderList, header } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import { parseUrl, resolveUrl, withoutCredentials } from "../model/url.ts";

export interface RedirectTarget {
  /** Without user name, password and fragment. */
  readonly target: URL;
  /** A problem with the `Location` that did not prevent following it. */
  readonly problem?: Problem;
}

/** The target of the first `Location` header, or why there is none. */
export function redirectTarget(headers: HeaderList, base: string, maxLength: number): RedirectTarget | Problem {
  const location = header(headers, "location");
  if (location === undefined) return problem("redirect-invalid", { value: "none" });
  const text = utf8(location.trim());
  // An empty Location is a relative reference to the document itself.
  const { url, problem: code } = text === "" ? { url: base } : resolveUrl(text, base, maxLength);
  if (url === undefined) {
    const value = withoutCredentials(text);
    return problem(code === "url-scheme" ? "scheme-refused" : "redirect-invalid", { value });
  }
  const target = parseUrl(url) as URL;
  target.username = "";
  target.password = "";
  target.hash = "";
  return notAscii.test(text) ? { target, problem: problem("redirect-encoding", { value: target.href }) } : { target };
}

// Lenient: bytes above 127 are not allowed in a URL, but websites send them, in UTF-8 as browsers expect it.
function utf8(latin1: string): string {
  if (!notAscii.test(latin1)) return latin1;
  const text = Buffer.from(latin1, "latin1").toString("utf8");
  return text.includes("\ufffd") ? latin1 : text;
}

const notAscii = /[^\x00-\x7f]/;
