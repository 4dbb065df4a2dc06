// HTTP statuses that are not documents. Every status has the code `http-` and its number; these have words of their own.
import { note, type ProblemRow, type ProblemRows } from "./row.ts";

const later = (message: string): ProblemRow => note(message, "Try again later.", { temporary: true });

export const statusProblems: ProblemRows = {
  "http-204": note("Empty response (204)", "Open the URL in a browser."),
  "http-304": note("Not modified (304)", "Site owner: send it only for conditional requests."),
  "http-400": note("Bad request (400)", "Open the URL in a browser."),
  "http-401": note("Login required (401)", "Put user name and password into the URL, or send `headers`.", {
    hint: "pass it in the URL or by --header",
  }),
  "http-403": note("Access denied (403)", "Try another `userAgent`; ask the site owner for access."),
  "http-404": note("Not found (404)", "Site owner: remove it from the index or robots.txt."),
  "http-407": note("The proxy requires a login (407)", "Put user name and password into the `proxy` URL."),
  "http-408": later("The server timed out (408)"),
  "http-410": note("Gone (410)", "Site owner: remove it from the index or robots.txt."),
  "http-425": later("Too early (425)"),
  "http-429": note(
    "Too many requests (429)",
    "Lower `concurrency`, or set `delay` or `useCrawlDelay`. `Retry-After` was respected.",
    { temporary: true },
  ),
  "http-451": note("Unavailable for legal reasons (451)", "It may be available from another country."),
  "http-500": later("Server error (500)"),
  "http-502": later("Bad gateway (502)"),
  "http-503": later("Service unavailable (503)"),
  "http-504": later("Gateway timeout (504)"),
};

/** The row of any status. With each of them, a document that was declared is missing. */
export function statusRow(status: number): ProblemRow {
  return { loss: true, ...(statusProblems[`http-${status}`] ?? otherRow(status)) };
}

function otherRow(status: number): ProblemRow {
  // 520 to 529 come from content delivery networks: the server behind them has trouble.
  if (status >= 520 && status <= 529) return later(`Server error (${status})`);
  return note(`${status >= 500 ? "Server error" : "Unexpected status"} (${status})`, "Open the URL in a browser.");
}
