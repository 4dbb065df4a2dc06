// HTTP statuses that are not documents. Every status has the code `http-` and its number; these have words of their own.
import type { ProblemRow, ProblemRows } from "./row.ts";

const later = "Try again later.";

export const statusProblems: ProblemRows = {
  "http-204": { message: "Empty response (204)", fix: "Open the URL and see." },
  "http-304": { message: "Not modified (304)", fix: "Site owner: send it only where the request was conditional." },
  "http-400": { message: "Bad request (400)", fix: "Open the URL and see." },
  "http-401": {
    message: "Login required (401)",
    fix: "Put user name and password into the URL, or send a login with `headers`.",
    hint: "pass it in the URL or by --header",
  },
  "http-403": { message: "Access denied (403)", fix: "Try another `userAgent`; ask the site owner for access." },
  "http-404": {
    message: "Not found (404)",
    fix: "Site owner: remove it from the index or robots.txt that names it. At a well-known path it is no problem.",
  },
  "http-407": {
    message: "The proxy requires a login (407)",
    fix: "Put user name and password into the URL of `proxy`.",
  },
  "http-408": { temporary: true, message: "The server timed out (408)", fix: later },
  "http-410": { message: "Gone (410)", fix: "Site owner: remove it from the index or robots.txt that names it." },
  "http-425": { temporary: true, message: "Too early (425)", fix: later },
  "http-429": {
    temporary: true,
    message: "Too many requests (429)",
    fix: "Lower `concurrency`, set a `delay`, or turn on `useCrawlDelay`. `Retry-After` was waited for, where it was given.",
  },
  "http-451": {
    message: "Unavailable for legal reasons (451)",
    fix: "Nothing; it may be available from another country.",
  },
  "http-500": { temporary: true, message: "Server error (500)", fix: later },
  "http-502": { temporary: true, message: "Bad gateway (502)", fix: later },
  "http-503": { temporary: true, message: "Service unavailable (503)", fix: later },
  "http-504": { temporary: true, message: "Gateway timeout (504)", fix: later },
};

/** The row of any status. With each of them, a document that was declared is missing. */
export function statusRow(status: number): ProblemRow {
  return { loss: true, ...(statusProblems[`http-${status}`] ?? otherRow(status)) };
}

function otherRow(status: number): ProblemRow {
  // 520 to 529 come from content delivery networks: the server behind them has trouble.
  if (status >= 520 && status <= 529) return { temporary: true, message: `Server error (${status})`, fix: later };
  return {
    message: status >= 500 ? `Server error (${status})` : `Unexpected status (${status})`,
    fix: "Open the URL and see.",
  };
}
