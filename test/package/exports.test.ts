// The surface of the package, name by name: it changes on purpose, or not at all.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { words } from "../support/words.ts";

const root = path.join(import.meta.dirname, "../..");

const functions = words(`
  crawl fetchClient openTree parseRobots parseSitemap problem readSitemap sitemapTreeForHomepage
  streamPages
`);
const classes = ["SitemapError", "SitemapTree"];
const pageTypes = words(`
  AlternatePage ChangeFrequency NewsStory SitemapImage SitemapPage SitemapVideo VideoId VideoPrice VideoRestriction
  VideoSegment VideoTvShow
`);
const parsedTypes = words(`
  PagesFormat ParsedIndex ParsedInvalid ParsedPages ParsedSitemap Problem ProblemCode SitemapReference
`);
const treeTypes = words(`
  IndexSitemap IndexWithPages InvalidSitemap PagesPart PagesSitemap Sitemap SitemapProblem SitemapWithPages TreeData
  TreeDataWithPages TreePart TreeStep UnreachableWebsite
`);
const optionTypes = words(`
  ArchiveOptions Limits NetworkPolicy Options RecurseContext StoreKind Timeouts
`);
const eventTypes = words(`
  CrawlEvent DiscoveryRecord FailureEvent FinishedEvent PagesEvent ProblemEvent RequestEvent ResponseEvent RetryEvent SitemapEvent
  StartEvent Totals
`);
const changeTypes = words(`
  AddedPage ChangeKind Changes ChangesOptions ChangeCounts ChangedPage DiffBytes DiffOptions DiffSide DiffSideTotals DiffTotals MovedPage
  PageChange PageField RemovedPage SitemapChange TreeChange UnknownPage
`);
const checkTypes = words(`
  Basis BuiltInRule CheckOptions CheckResult Engine Finding FindingExample IgnoredFinding Need NotJudged PageSample
  OwnRule Rule RuleContext RuleId RuleReport RuleSeverities Severity SiteFilesOptions SiteFolder
`);
const fleetTypes = words(`
  FleetEvent FleetOptions BullQueueOptions SitesInProcess JournalQueueOptions Lease QueueCounts SiteJob SiteOutcome
  SiteOutput SiteQueue SiteReason SiteResponses SiteSettings ListedSite RunEntry RunSettings Schedule ServerNews SiteSink SiteSummary
`);
const reportTypes = words(`
  LanguageCount LanguageLinks ReportChanges ReportDiscovery ReportFacts ReportFigures ReportFinding ReportFormat
  ReportLanguages ReportMedia ReportOptions ReportSection ReportShare ReportSitemap ReportSitemaps ReportTimeline
`);
const otherTypes = words(`
  Came FetchInit FetchLike FetchResponse OrderedEvent Client ClientHeaders ClientRequest ClientResponse CrawlTarget
  DocumentResponse FailureOutcome HeaderList ParseOptions ProblemFacts RedirectHop RobotsPreference RobotsRule RobotsTxt SitemapBytes
  SitemapErrorCode SitemapResponse FilterCounts PageFilters Pattern StreamOptions
`);

const rootTypes = [...pageTypes, ...parsedTypes, ...treeTypes, ...optionTypes, ...eventTypes, ...otherTypes];
const entryPoints: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["index", [...functions, ...classes], rootTypes],
  ["check", ["checkRules", "checkTree"], checkTypes],
  ["diff", ["changes", "diffTrees"], changeTypes],
  ["report", ["reportFacts", "reportHtml"], reportTypes],
  ["fleet", ["BullQueue", "JournalQueue", "runFleet", "siteJob"], fleetTypes],
];

test.each(entryPoints)("src/%s.ts exports these values and types", async (name, values, types) => {
  const exported = await import(`../../src/${name}.ts`);
  expect(Object.keys(exported).sort()).toEqual([...values].sort());
  expect(namesOf(`src/${name}.ts`)).toEqual([...values, ...types].sort());
});

test("sitegrove/parse exports one function and the types that it speaks of", () => {
  const types = [...pageTypes, ...parsedTypes, "Limits", "ParseOptions"];
  expect(namesOf("src/parse/parse-sitemap.ts")).toEqual(["parseSitemap", ...types].sort());
});

// Files are read as text: they re-export by name or another file as a whole, or declare what they export.
function namesOf(file: string): string[] {
  const text = readFileSync(path.join(root, file), "utf8");
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = ""]) => names.split(","));
  const declared = [...text.matchAll(/^export (?:async )?(?:function|class|interface|type|const) (\w+)/gm)];
  const whole = [...text.matchAll(/^export (?:type )?\* from "([^"]+)"/gm)].flatMap(([, other = ""]) =>
    namesOf(path.join(path.dirname(file), other)),
  );
  expect(text, "names only").not.toMatch(/^export default/m);
  const own = [...listed.map((name) => name.replace("type ", "").trim()), ...declared.map(([, name = ""]) => name)];
  return [...own, ...whole].filter((name) => name !== "").sort();
}

test("what was built imports nothing but Node and what the package depends on", () => {
  const { dependencies, peerDependencies = {} } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const modules = readdirSync(path.join(root, "dist"), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".js"),
  );
  const imported = new Set(
    modules.flatMap((file) =>
      [
        ...readFileSync(path.join(root, "dist", file), "utf8").matchAll(
          /^(?:import|export)\b[^"'`;]*?["']([^."'][^"']*)["'];|\bimport\(["']([^."'][^"']*)["']\)/gm,
        ),
      ].map((match) => match[1] ?? match[2] ?? ""),
    ),
  );
  const packages = [...imported]
    .filter((name) => !name.startsWith("node:"))
    .map((name) => name.replace(/^(@[^/]+\/[^/]+|[^/]+).*/, "$1"));
  expect(packages).toContain("tldts");
  const known = Object.keys({ ...dependencies, ...peerDependencies });
  expect([...new Set(packages)].filter((name) => !known.includes(name))).toEqual([]);
});
