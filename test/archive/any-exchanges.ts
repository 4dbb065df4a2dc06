// Exchanges of every kind, for property-based tests.
import fc from "fast-check";
import type { DocumentRole, FailureOutcome, Fetched } from "../../src/model/exchange.ts";
import { type ProblemCode, type ProblemFacts, problem } from "../../src/model/problem.ts";
import { anyText } from "../support/any-text.ts";
import { bodyOf, documentAt, failedAt, redirectAt } from "./exchanges.ts";

// The texts contain nothing that looks like a user name and password.
const plain = anyText({ maxLength: 20 }).filter((value) => !value.includes("@"));
const aProblem = fc
  .record(
    {
      code: fc.constantFrom<ProblemCode>("timeout-idle", "body-reset", "limit-document-bytes"),
      line: fc.nat(),
      value: plain,
      count: fc.nat(),
      limit: fc.oneof(fc.nat(), fc.constant(1500.5)),
      status: fc.nat(),
      retryAfter: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    },
    { requiredKeys: ["code"] },
  )
  .map(({ code, ...facts }) => problem(code, facts as ProblemFacts));
const common = {
  role: fc.constantFrom<DocumentRole>("robots", "sitemap", "homepage"),
  attempts: fc.nat(),
  receivedAt: fc
    .date({ noInvalidDate: true, min: new Date("0001-01-01"), max: new Date("9999-12-31") })
    .map((date) => date.toISOString()),
  firstByte: fc.nat(),
  status: fc.integer({ min: 100, max: 999 }),
  headers: fc.array(
    fc.tuple(fc.oneof(fc.constantFrom("location", "content-length", "transfer-encoding"), plain), plain),
  ),
};
const outcome = fc.constantFrom<FailureOutcome>("absent", "blocked", "failed", "refused");
// `fc.webUrl` makes a table of all characters first, which takes a second.
const encoded = anyText({ maxLength: 8 }).map(encodeURIComponent);
const anyUrl = fc
  .tuple(fc.constantFrom("http", "https"), fc.domain(), fc.array(encoded), fc.option(encoded), fc.option(encoded))
  .map(([scheme, host, path, query, fragment]) => {
    return `${scheme}://${host}/${path.join("/")}${query === null ? "" : `?${query}`}${fragment === null ? "" : `#${fragment}`}`;
  });
// Creates new exchanges each time, because a body can be read only once.
const anyExchange: fc.Arbitrary<() => Fetched> = anyUrl.chain((url) =>
  fc.oneof(
    fc
      .tuple(fc.record({ ...common, duration: fc.nat() }), fc.uint8Array({ maxLength: 200 }), fc.option(aProblem))
      .map(([changes, bytes, reason]) => () => {
        return documentAt(url, "", { ...changes, body: bodyOf(bytes, reason === null ? {} : { problem: reason }) });
      }),
    fc.record(common).map((changes) => () => redirectAt(url, "", changes)),
    fc.record({ ...common, outcome, reason: aProblem }).map((changes) => () => failedAt(url, changes)),
    fc.record({ outcome, reason: aProblem }).map((changes) => () => {
      const { status: _, headers: __, ...withoutResponse } = failedAt(url, changes);
      return withoutResponse;
    }),
  ),
);
/** Any exchanges, of different hosts. */
export const anyExchanges: fc.Arbitrary<(() => Fetched)[]> = fc.uniqueArray(anyExchange, {
  minLength: 1,
  maxLength: 8,
  selector: (make) => new URL(make().url).host,
});
