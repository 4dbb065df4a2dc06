import { expect, test } from "vitest";
import {
  isLossy,
  isTemporary,
  messageWithHint,
  type ProblemCode,
  ProblemLog,
  problem,
  problemRows,
  rootCauses,
  withCause,
} from "../src/model/problem.ts";
import { notSitemap } from "../src/model/problem-log.ts";

test("an unknown code, perhaps from a later version, counts as a loss", () => {
  const code = "of-a-later-version" as ProblemCode;
  const log = new ProblemLog();
  log.addProblem(problem(code));
  expect([isLossy(code), log.complete]).toEqual([true, false]);
});

test("a problem keeps its cause, however often it occurs", () => {
  const log = new ProblemLog();
  const cause = new Error("mine");
  log.addProblem(withCause(problem("client-failed"), cause));
  log.addProblem(withCause(problem("client-failed"), new Error("another")));
  expect(log.toArray()).toMatchObject([{ code: "client-failed", count: 2, cause }]);
});

test("the message of a problem includes its facts", () => {
  const message = "Sitemaps nested more than 11 deep; this one was not fetched";
  expect(problem("limit-depth", { limit: 11 })).toEqual({ code: "limit-depth", message, limit: 11 });
  const notFound = { code: "http-404", message: "Not found (404)", status: 404 };
  expect(problem("http-404", { status: 404 })).toEqual(notFound);
});

test.each([
  [problem("timeout-first-byte", { limit: 30_000 }), "No response within 30 s"],
  [problem("timeout-idle", { limit: 1500 }), "The transfer stalled for 1.5 s"],
  [problem("limit-time", { limit: 600_000 }), "Not finished after 10 min; reading stopped"],
  [problem("limit-time", { limit: 150_000 }), "Not finished after 2 min 30 s; reading stopped"],
  [problem("rate-limited", { retryAfter: "2026-05-31T10:00:01.159Z" }), "Rate limited until 2026-05-31 10:01 UTC"],
  [problem("limit-document-bytes", { limit: 100 * 1024 * 1024 }), "Larger than 100 MiB; the rest was not read"],
  [problem("limit-robots-bytes", { limit: 512_000 }), "robots.txt is larger than 500 KiB; the rest was not read"],
  [problem("protocol-entries", { limit: 50_000 }), "More than the 50,000 entries that the protocol allows"],
  [problem("port-refused", { value: "1" }), "Port 1 is blocked"],
  [problem("xml-truncated", { line: 994 }), "The file is cut off at line 994"],
  [problem("xml-truncated"), "The file is cut off"],
  [problem("bot-check", { status: 403 }), "Blocked by a bot check (status 403)"],
  [problem("not-a-sitemap", { value: "html" }), "Got an HTML page, not a sitemap"],
  [problem("not-a-sitemap", { value: "svg" }), "Got XML with the root element svg, not a sitemap"],
  [problem("not-a-sitemap", { value: "constructor" }), "Got XML with the root element constructor, not a sitemap"],
  [notSitemap("a sitemap in place of robots.txt"), "A sitemap served at /robots.txt is not accepted"],
  [problem("tls-certificate", { value: "DEPTH_ZERO_SELF_SIGNED_CERT" }), "Self-signed certificate"],
  [problem("tls-certificate", { value: "CERT_REJECTED" }), "Invalid TLS certificate: CERT_REJECTED"],
  [problem("http-525", { status: 525 }), "Server error (525)"],
  [problem("http-418", { status: 418 }), "Unexpected status (418)"],
  // Braces in a website's text are not placeholders.
  [problem("url-invalid", { value: "[x {limit}]", limit: 3 }), "Skipped an invalid URL: [x {limit}]"],
])("%j is worded as %j", ({ message }, expected) => {
  expect(message).toBe(expected);
});

test("messages of the program name the flag that helps", () => {
  expect(messageWithHint(problem("address-blocked"))).toBe("Refused: private address (allow with --allow-private)");
  expect(messageWithHint(problem("tls-certificate", { value: "DEPTH_ZERO_SELF_SIGNED_CERT" }))).toBe(
    "Self-signed certificate; trust it with --ca FILE or NODE_EXTRA_CA_CERTS, or use --insecure",
  );
  expect(messageWithHint(problem("http-404", { status: 404 }))).toBe("Not found (404)");
});

test("a failure that may go away by itself is temporary", () => {
  expect((["http-503", "http-529", "dns-temporary"] as const).filter((code) => !isTemporary(code))).toEqual([]);
  expect((["http-404", "http-530", "tls-certificate"] as const).filter(isTemporary)).toEqual([]);
});

test("long texts from a website are truncated, but never in the middle of a character", () => {
  const { value } = problem("text-junk", { value: `${"x".repeat(199)}😀tail` });
  expect(value).toBe(`${"x".repeat(199)}…`);
});

test("a log keeps one problem for each code, with its first occurrence and its count", () => {
  const log = new ProblemLog();
  log.add("date-invalid", { line: 3, value: "soon" });
  log.add("url-relative", { line: 4, value: "/x" });
  log.add("date-invalid", { line: 9, value: "later" });
  expect(log.toArray()).toMatchObject([
    { code: "date-invalid", line: 3, value: "soon", count: 2 },
    { code: "url-relative", line: 4, value: "/x" },
  ]);
  expect(log.complete).toBe(true);
  log.add("xml-truncated");
  expect(log.complete).toBe(false);
});

test("every message is filled in with the facts that it names", () => {
  for (const code of problemRows.keys()) {
    const facts = { value: "V", limit: 1, status: 2, retryAfter: "2024-05-06T00:00:00Z" };
    expect(problem(code, facts).message).not.toMatch(/[{}]|unknown$/);
  }
});

test("compressed data that is cut off is one problem, although the XML in it is also cut off", () => {
  const [bytes, xml] = [problem("coding-truncated"), problem("xml-truncated", { line: 9 })];
  const other = problem("news-repeated");
  expect(rootCauses([bytes, xml, other])).toEqual([bytes, other]);
  expect(rootCauses([xml, other])).toEqual([xml, other]);
});
