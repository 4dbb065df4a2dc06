// Shows the findings of a check: one row for each rule and severity, which opens to show the fix, sitemaps and examples.
import { type CheckResult, type Finding, groupedByRule } from "../check/findings/result.ts";
import { requestedInWords, rulesByReason } from "../check/findings/words.ts";
import { counted, grouped } from "../model/figures.ts";
import { isHttpUrl } from "../model/url.ts";
import type { ReportFacts, ReportFinding } from "./facts.ts";
import {
  caps,
  type Html,
  html,
  part,
  prose,
  readableUrl,
  urlLink,
  urlList,
  withoutOrigin,
  withShortTexts,
} from "./html.ts";

export function findingFacts({ findings, rules }: Pick<CheckResult, "findings" | "rules">): ReportFinding[] {
  const [occurrencesThatFit, examplesThatFit] = [room(), room()];
  const rows = new Map(rules.map((rule) => [rule.id, rule]));
  return groupedByRule(findings).map((group) => {
    const { rule: id, severity } = group[0];
    const { sentence = id, fix = "", link = "", basis = "heuristic" } = rows.get(id) ?? {};
    return {
      rule: id,
      severity,
      count: group.reduce((sum, { count }) => sum + count, 0),
      sitemaps: group.reduce((sum, { otherSitemaps = 1 }) => sum + otherSitemaps, 0),
      sentence,
      fix,
      link,
      basis,
      occurrences: occurrencesThatFit(
        group
          .filter(({ otherSitemaps }) => otherSitemaps === undefined)
          .toSorted((one, two) => two.count - one.count)
          .slice(0, caps.occurrencesOfRule)
          .map(({ sitemap, count }) => ({ sitemap, count })),
      ),
      examples: examplesThatFit(examplesOf(group)),
    };
  });
}

// Returns the first example of each sitemap, then the second of each, and so on.
function examplesOf(group: readonly Finding[]): ReportFinding["examples"] {
  const most = Math.max(...group.map(({ examples }) => examples.length));
  const chosen: ReportFinding["examples"][number][] = [];
  for (let index = 0; index < most; index++) {
    for (const { sitemap, examples } of group) {
      if (chosen.length === caps.examplesOfRule) return chosen;
      const { url, value, file, line } = examples[index] ?? {};
      if (url !== undefined || value !== undefined) chosen.push({ sitemap, url, value, file, line });
    }
  }
  return chosen;
}

// Returns a function that shortens the texts of a list. Once those of all lists take too many bytes, further lists get one item.
function room(): <T extends object>(list: readonly T[]) => T[] {
  let left: number = caps.allOfRules;
  return (list) =>
    list.flatMap((item, index) => {
      if (left <= 0 && index > 0) return [];
      const short = withShortTexts(item);
      left -= Buffer.byteLength(JSON.stringify(short));
      return [short];
    });
}

export function findingsPart(facts: ReportFacts): Html {
  const { findings, figures, unreachable } = facts;
  const content =
    findings.length > 0
      ? html`<p class="lead">Open a rule to see where, and how to fix it. <code>sitegrove check --all</code> lists every place.</p><div class="list">${findings.map((finding) => row(finding, facts.homepage))}</div>`
      : unreachable !== undefined || figures.sitemaps === 0
        ? html`<p class="empty">There is nothing to check.</p>`
        : facts.complete
          ? html`<p class="empty good">Nothing that search engines would reject or ignore.</p>`
          : html`<p class="empty">No findings in what could be read.</p>`;
  const requested = facts.pages && html`<p class="note">${requestedInWords(facts.pages)}</p>`;
  return part("findings", "What search engines would flag", html`${content}${requested}${notChecked(facts)}`);
}

function row(finding: ReportFinding, homepage: string): Html {
  const { rule, severity, count, sitemaps, sentence, fix, link, basis, examples, occurrences } = finding;
  const isSite = sitemaps === 1 && occurrences[0]?.sitemap === homepage;
  const where = isSite ? "the website" : counted(sitemaps, "sitemap");
  const heading = examples.length < count ? `${examples.length} of ${grouped(count)}` : isSite ? "Details" : "Where";
  // If the rule failed in one sitemap only, the heading names it.
  const only = sitemaps === 1 && !isSite ? examples[0]?.sitemap : undefined;
  // If no sitemap has several occurrences, a list of sitemaps would only repeat the examples.
  const listed = occurrences.map(({ sitemap, count }) => ({ url: sitemap, remark: grouped(count) }));
  const isCounted = examples.length === 0 || occurrences.some((each) => each.count > 1);
  return html`<details class="finding ${severity}" id="rule-${rule}"><summary><span class="tag ${severity}">${severity === "info" ? "note" : severity}</span><span class="says">${prose(sentence)}</span><span class="where">${where}</span><span class="count">${grouped(count)}<span class="unseen"> found</span></span></summary><div class="body">
${fix !== "" && html`<h3>Fix</h3><p>${prose(fix)}</p>`}
${examples.length > 0 && html`<h3>${heading}${only !== undefined && html`: ${urlLink(only, homepage)}`}</h3><ul class="examples">${examples.map((example) => exampleRow(example, homepage, only))}</ul>`}
${(occurrences.length > 1 || examples.length === 0) && isCounted && html`<h3>Sitemaps</h3>${urlList(listed, homepage, sitemaps - listed.length)}`}
<p class="note">Rule <code>${rule}</code>${basis === "heuristic" && " · a heuristic, not a documented rule"}${link !== "" && html` · <a href="${link}" rel="noreferrer">source</a>`}</p></div></details>`;
}

/** `only` is the sitemap that the heading names, so the example need not. */
function exampleRow(
  { url, value, file, line, sitemap }: ReportFinding["examples"][number],
  homepage: string,
  only: string | undefined,
): Html {
  const source = file ?? (sitemap === only || sitemap === homepage ? undefined : withoutOrigin(sitemap, homepage));
  const place = [
    source !== undefined && html`<span class="url">${readableUrl(source)}</span> `,
    line !== undefined && `line ${grouped(line)}`,
  ];
  return html`<li>${url !== undefined && urlLink(url, homepage)}${value !== undefined && (isHttpUrl(value) ? urlLink(value, homepage) : html`<bdi>${value}</bdi>`)}<span class="place">${place}</span></li>`;
}

function notChecked({ notChecked }: ReportFacts): Html | false {
  if (notChecked.length === 0) return false;
  const reasons = rulesByReason(notChecked).map(
    ([reason, rules]) =>
      html`<li><span>Because ${reason}:</span> <span>${rules.map((rule, index) => html`${index > 0 && ", "}<code>${rule}</code>`)}</span></li>`,
  );
  return html`<details class="more"><summary>${counted(notChecked.length, "rule")} could not be checked</summary><ul class="examples">${reasons}</ul></details>`;
}
