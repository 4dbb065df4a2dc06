// The findings of a check: one row for each rule and severity, which opens to what search engines do, the fix, and the
// first places and examples.
import { type Finding, groupedByRule } from "../check/findings.ts";
import { type CheckResult, failedInWords } from "../check/result.ts";
import { counted, grouped } from "../model/figures.ts";
import { type Html, html, listed, part, prose, shortened, urlLink, withoutOrigin } from "./html.ts";
import type { ReportFacts, ReportFinding } from "./report-tree.ts";
import type { Room } from "./room.ts";

// The examples that each rule has in any case.
const leastExamples = 2;

export function findingGroups({ findings, rules }: CheckResult, room: Room): ReportFinding[] {
  const rows = new Map(rules.map((rule) => [rule.id, rule]));
  let left = room.allExamples;
  return groupedByRule(findings).map((group) => {
    const { rule: id, severity } = group[0];
    const { sentence = id, fix = "", link = "", basis = "heuristic", engines = [] } = rows.get(id) ?? {};
    const examples: ReportFinding["examples"][number][] = [];
    for (const example of examplesOf(group, room)) {
      if (examples.length >= leastExamples && left <= 0) break;
      left -= JSON.stringify(example).length;
      examples.push(example);
    }
    return {
      rule: id,
      severity,
      count: group.reduce((sum, { count }) => sum + count, 0),
      sitemaps: group.reduce((sum, { otherSitemaps = 1 }) => sum + otherSitemaps, 0),
      sentence,
      fix,
      link,
      basis,
      engines,
      places: group
        .filter(({ otherSitemaps }) => otherSitemaps === undefined)
        .slice(0, room.places)
        .map(({ sitemap, count }) => ({ sitemap: shortened(sitemap, room.text), count })),
      examples,
    };
  });
}

// First those of the first sitemap, but some of each.
function examplesOf(group: readonly Finding[], { examples: most, text }: Room): ReportFinding["examples"] {
  const examples: ReportFinding["examples"][number][] = [];
  for (let index = 0; index < most && examples.length < most; index++) {
    for (const finding of group.slice(0, most)) {
      const example = finding.examples[index];
      if (example === undefined || examples.length >= most) continue;
      const { url, value, line } = example;
      if (url === undefined && value === undefined) continue;
      examples.push({
        sitemap: shortened(finding.sitemap, text),
        ...(url === undefined ? {} : { url: shortened(url, text) }),
        ...(value === undefined ? {} : { value: shortened(value, text) }),
        ...(line === undefined ? {} : { line }),
      });
    }
  }
  return examples;
}

export function findingsPart(facts: ReportFacts): Html {
  const { findings, figures, unreachable } = facts;
  const content =
    findings.length > 0
      ? html`${lead(facts)}${filter(facts)}<div class="list">${findings.map((finding) => row(finding, facts.homepage))}</div>`
      : unreachable !== undefined || figures.sitemaps === 0
        ? html`<p class="empty">There is nothing to judge.</p>`
        : html`<p class="empty good">Nothing that search engines would reject or ignore.</p>`;
  return part("findings", "What search engines would say", html`${content}${notJudged(facts)}`);
}

const severityNames = {
  error: ["error", "Errors"],
  warning: ["warning", "Warnings"],
  info: ["note", "Notes"],
} as const;

function lead(facts: ReportFacts): Html {
  return html`<p class="lead">${failedInWords(facts)}. Each rule opens to what search engines do about it, and what to do.</p>`;
}

// Radio buttons and a style sheet: works without script.
function filter({ findings, counts }: ReportFacts): Html {
  const all = counts.error + counts.warning + counts.info;
  const present = (["error", "warning", "info"] as const).filter((severity) =>
    findings.some((finding) => finding.severity === severity),
  );
  if (present.length < 2) return html``;
  return html`<fieldset class="filter"><legend class="unseen">Show</legend><label><input type="radio" name="only" id="only-all" checked>All<b>${grouped(all)}</b></label>${present.map(
    (severity) =>
      html`<label><input type="radio" name="only" id="only-${severity}">${severityNames[severity][1]}<b>${grouped(counts[severity])}</b></label>`,
  )}</fieldset>`;
}

function row(finding: ReportFinding, homepage: string): Html {
  const { rule, severity, count, sitemaps, sentence, fix, link, examples, places } = finding;
  const isSite = sitemaps === 1 && places[0]?.sitemap === homepage;
  return html`<details class="finding ${severity}" id="rule-${rule}"><summary><span class="tag ${severity}">${severityNames[severity][0]}</span><span class="says">${prose(sentence)}</span><span class="where">${isSite ? "the website" : counted(sitemaps, "sitemap")}</span><span class="count">${grouped(count)}<span class="unseen"> found</span></span></summary><div class="body">
<h3>What search engines do</h3><p>${consequence(finding)}</p>
${fix !== "" && html`<h3>What to do</h3><p>${prose(fix)}</p>`}
${examples.length > 0 && html`<h3>${examples.length < count ? `The first ${examples.length} of ${grouped(count)}` : "Where"}</h3><ul class="examples">${examples.map((example) => exampleRow(example, homepage))}</ul>`}
${(places.length > 1 || examples.length === 0) && html`<h3>Sitemaps</h3><ul class="examples">${places.map(({ sitemap, count }) => html`<li>${urlLink(sitemap, withoutOrigin(sitemap, homepage))}<span class="place">${grouped(count)}</span></li>`)}${sitemaps > places.length && html`<li class="soft">other (${grouped(sitemaps - places.length)})</li>`}</ul>`}
<p class="note">Rule <code>${rule}</code>${link !== "" && html` · <a href="${link}" rel="noreferrer">what it rests on</a>`}</p></div></details>`;
}

function exampleRow({ url, value, line, sitemap }: ReportFinding["examples"][number], homepage: string): Html {
  const place = withoutOrigin(sitemap, homepage);
  return html`<li>${url !== undefined && urlLink(url, withoutOrigin(url, homepage))}${value !== undefined && html`<bdi>${value}</bdi>`}<span class="place">${place !== "/" && html`<bdi>${place}</bdi>`}${line !== undefined && ` line ${grouped(line)}`}</span></li>`;
}

const engineNames = { google: "Google", bing: "Bing", yandex: "Yandex" } as const;

function consequence({ severity, basis, engines }: ReportFinding): string {
  const names = listed(engines.map((engine) => engineNames[engine]));
  const who = names === "" ? "Search engines" : names;
  const does = {
    error: engines.length === 1 ? "rejects or ignores" : "reject or ignore",
    warning: "may ignore",
    info: "",
  }[severity];
  const effect =
    severity === "info" ? "No effect on what is read; advice." : `${who} ${does} the file, the entry or what it says.`;
  const ground = {
    protocol: "The protocol of sitemaps asks for it.",
    engine: "It is documented.",
    practice: "It is good practice.",
    heuristic: "This is experience, not a documented rule.",
  }[basis];
  return `${effect} ${ground}`;
}

function notJudged({ notJudged }: ReportFacts): Html | false {
  if (notJudged.length === 0) return false;
  const reasons = new Map<string, string[]>();
  for (const { rule, reason } of notJudged) reasons.set(reason, [...(reasons.get(reason) ?? []), rule]);
  return html`<details class="more"><summary>${counted(notJudged.length, "rule")} could not be judged</summary><ul class="examples">${[
    ...reasons,
  ].map(
    ([reason, rules]) =>
      html`<li><span>Because ${reason}:</span> <span>${rules.map((rule, index) => html`${index > 0 && ", "}<code>${rule}</code>`)}</span></li>`,
  )}</ul></details>`;
}
