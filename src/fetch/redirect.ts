// Where a redirect leads. https://www.rfc-editor.org/rfc/rfc9110#name-redirection-3xx
import { type HeaderList, header } from "../exchange.ts";
import { type Problem, problem } from "../problem.ts";
import { resolveUrl, withoutCredentials } from "../url.ts";

/** Whether a status sends us elsewhere; 300, 304, 305 and 306 do not. https://fetch.spec.whatwg.org/#redirect-status */
export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** The URL that the first `Location` names, without user name, password and fragment; or why there is none. */
export function redirectTarget(headers: HeaderList, base: string, maxLength: number): URL | Problem {
  const location = header(headers, "location");
  if (location === undefined) return problem("redirect-invalid", { value: "none" });
  const text = utf8(location.trim());
  // An empty Location is a relative reference to the document itself.
  const { url, problem: code } = text === "" ? { url: base } : resolveUrl(text, base, maxLength);
  if (url === undefined) {
    const value = withoutCredentials(text);
    return problem(code === "url-scheme" ? "scheme-refused" : "redirect-invalid", { value });
  }
  const target = new URL(url);
  target.username = "";
  target.password = "";
  target.hash = "";
  return target;
}

// Lenient: bytes above 127 are not allowed in a URL, but websites send them, in UTF-8 as browsers expect it.
function utf8(latin1: string): string {
  if (!/[\x80-\xff]/.test(latin1)) return latin1;
  const bytes = Buffer.from(latin1, "latin1");
  const text = bytes.toString("utf8");
  return text.includes("\ufffd") ? latin1 : text;
}
