// Every message of the program that tests expect. Tests refer to it by name, so that a message that is reworded changes here and nowhere
// else. Messages about wrong words and flags are in test/cli/usage-errors.test.ts.

/** Reading, listing and saving one website or several. */
export const said = {
  // Exit codes
  notRead: (url: string, why: string) => `${url}: not read: ${why}`,
  notFound: "Not found (404)",
  incomplete: (why: string) => `incomplete: ${why}`,
  oneNotRead: "1 sitemap could not be read",
  noSitemap: (site: string) => `no sitemap found for ${site}`,
  lookedAt: /\/robots\.txt: not found \(404\)\n[\s\S]*sitemap\.xml and \d+ more: not found \(404\)/,
  giveItsAddress: "If you know its address: sitegrove ls --sitemap URL",
  readFeeds: "To read feeds, too: --feeds",
  couldNotConnect: (host: string, why: string) => `Could not connect to ${host}: ${why}`,
  noSuchHost: "the host name does not exist",
  connectionRefused: "connection refused",
  nothingRead: (host: string, why: string) => `Nothing could be read from ${host}: ${why}`,
  portBlocked: "port 1 is blocked",
  privateAddress: "refused: private address (allow with --allow-private)",
  refusedAll: (host: string) => `${host} refused all 5 requests: access denied (403); try another --user-agent`,
  loginRequired: (host: string) => `Login required: ${host} answers 401; pass credentials in the URL or with --header`,
  rateLimited: (host: string, until: string) => `${host}: rate limited until ${until} UTC`,
  tryHttp: "the server does not speak TLS on this port; try http://",
  usingHttp: (host: string) =>
    `no scheme given; https://${host}: The server does not speak TLS on this port; using http://${host}`,
  noScheme: (url: string) => `no scheme given, using ${url}`,
  onlyHttp2: "the server speaks HTTP/2 only; HTTP/1.1 is required",
  fasterThanCrawlDelay:
    "robots.txt asks for a Crawl-delay of 2 s; requests are sent faster; respect it with --crawl-delay",
  couldNotBeWritten: (file: string, why: string) => `${file} could not be written: ${why}`,
  noSpace: "no space left on device",
  stopped: (what: string) => `stopped: ${what}`,
  listedIncomplete: "10,000 pages listed, incomplete",
  // Words
  useFleet: (count: number) =>
    `${count} websites are listed one after the other; to crawl them in parallel: sitegrove fleet SITES… --out DIR`,
  only: (sitemap: string, website: string) => `reading only ${sitemap}; for the whole website: ${website}`,
  wholeWebsite: (website: string, path: string) => `reading the whole website ${website}, not only ${path}`,
  gotHtml: "Got an HTML page, not a sitemap",
  emptyDocument: "The document is empty",
  keepPath: (path: string) => `To look below ${path}, too: --keep-path`,
  rewritesOnlyPages: (from: string, to: string) =>
    `--rewrite ${from}=${to} applies only to page URLs, because the crawl does not start under ${to}`,
  // Output files
  notWritten: (file: string) => `${file} was not written`,
  notChanged: (file: string) => `${file} was not changed`,
  nothingWritten: "nothing was written",
  responsesSoFar: (archive: string) => `${archive} contains the responses received so far`,
  resumeIt: (archive: string) => `; continue with --resume ${archive}`,
  fileTooLarge: "file too large",
  // Terminals and logs
  waitingForAgent: "sitegrove: waiting for an agent's requests; Ctrl-C stops it",
  progress: "1 of 4 sitemaps · 2 pages · ",
  waitingFor: (path: string) => `waiting for ${path}`,
  cutOff: "The file is cut off at line 1",
  onePageKept: "1 page was kept",
  totals: (pages: string, sitemaps: string) => `${pages} pages from ${sitemaps} sitemaps in `,
  onePartlyRead: "1 sitemap could only be partly read",
  partly: (sitemap: string, why: string) => `${sitemap}: incomplete: ${why}`,
  finished: (counts: string) => `finished complete: ${counts}`,
  minorProblem: "1 minor problem; -v lists it",
  minorProblems: "2 minor problems",
  listThem: "-v lists them",
  notVerified: "certificates are NOT verified",
  // Skipped entries
  threeSkipped: "3 entries skipped: invalid URLs (2), URLs that are not http or https (1)",
  twoSkipped: "2 entries skipped: invalid URLs",
  lineSkipped: "1 entry skipped: lines that are not URLs",
  // Proxies
  proxyFailed: (why: string) => `the proxy failed: ${why}`,
  proxyAnswered: (status: number) => `the proxy answered ${status} to CONNECT`,
  addPassword: "add user name and password to its URL",
  // Targets and archives
  isArchive: (file: string) => `${file} is an archive; to list it: sitegrove ls ${file}`,
  tooLarge: "Larger than 1 MiB",
  lineTooLong: /:\d: not a website: a line of more than 1\.0 MB$/,
  closedEarly: "the output was closed early",
  logEnds: (file: string, why: string) =>
    `the log file ${file} can no longer be written; the listing continues: ${why}`,
  wrongChecksum: "does not match its checksum",
  // Formats, filters and the example
  pagesElsewhere: (there: string, here: string) =>
    `WARNING: the pages are on ${there}, not on ${here}; --here lists them on ${here}`,
  needsUrl: /\(2 times\): Skipped an invalid URL: \/a\n.*to resolve relative URLs, give the URL of the file with --url/,
  undatedSkipped: "--since skipped 1 page without a date; --undated keep lists it",
  stoppedAtLimit: "stopped at --limit 1",
  exitCodeWas: (code: number) => `The exit code was ${code}`,
  tryYourOwn: "Try it on your own website:  npm start --silent -- ls https://example.org/",
  openReport: /in your browser: (\S+)/,
  // Crawls
  robotsUnknown: (host: string) => `--allowed-for skipped 1 page: could not read robots.txt of ${host}`,
  noneMatch: (filters: string) => `0 of 7 pages match ${filters}`,
  containsQuotes: "the pattern contains quotes",
  wholeUrl: (pattern: string) => `with *, a pattern is for the whole URL: '${pattern}'`,
  needsSlashes: "a regular expression needs slashes around it",
  caseSensitive: "patterns are case-sensitive",
  remainAfter: (pattern: string) => `remain after --exclude '${pattern}'`,
  areAllowedFor: (agent: string) => `are allowed for ${agent} (--allowed-for)`,
  areOnSameHost: "are on the homepage's host (--same-host)",
  declaredAs: (url: string, declared: string) => `${url} (declared as ${declared})`,
  // Full disks and resumed runs
  temporaryFile: (folder: string) => `A temporary file in ${folder}`,
  noTemporaryFile: (folder: string, why: string) => `No temporary file can be created in ${folder}: ${why}`,
  noSuchFile: "no such file or directory",
  noFileHandles: /^(?:sitegrove: \S+: not read: Too many open files .+\n)+sitegrove: incomplete: .+\n$/,
  raiseLimit: /^sitegrove: [^\n]+: too many open files\b[^\n]*; raise `ulimit -n`[^\n]*\n$/,
};

/** Checking, comparing, reporting and following changes. */
export const saidOfChecks = {
  // check
  failedOnError: "failed (--fail-on error): 1 error (1 occurrence)",
  outsideFolder: (file: string) => `${file}: not read: Not a local file: it is outside its folder`,
  sixOccurrences: "1 error, 1 warning (6 occurrences)",
  configuration: (file: string) => `configuration: ${file}\n`,
  meantFailOn: "did you mean `failOn`",
  ofAnotherUser: "belongs to another user",
  notRegularFile: "not a regular file",
  baselineOutdated: "--update-baseline updates it",
  noFileMatches: (patterns: string) => `no file matches --files ${patterns} (2 HTML files in the folder)`,
  noFileRemains: "no file remains after --ignore '**' (2 HTML files in the folder)",
  usingAddress: (url: string) => `using ${url}, the address in the files`,
  addressesDiffer:
    "https://example.org (robots.txt), https://example.org (sitemaps), https://other.org (canonical links)",
  privateAddress: "Refused: private address (allow with --allow-private)",
  noStepSummary: "step summary could not be written",
  // report
  reportOfThreePages: (file: string) => `${file}: 3 pages, `,
  // diff, and diff --follow
  archiveOnStandardInput: "standard input contains an archive, which must be a file",
  emptyDocument: (file: string) => `${file}: The document is empty`,
  emptyTable: (file: string) => `${file}: The table has no rows`,
  differences: (count: number) => `sitegrove: ${count} differences\n`,
  notFound: (url: string) => `${url}: not read: Not found (404)`,
  unknownPages: /\d+ pages are unknown: missing on an incomplete side\n/,
  unreadSitemap: "incomplete: 1 sitemap could not be read",
  requestsFailed: (count: number, why: string) =>
    `--follow: ${count === 1 ? "1 page is" : `${count} pages are`} unknown: ${why}`,
  serverError: "Server error (500)",
  twoPagesGone: "--fail-on: 2 pages gone",
  onePageLoops: "--fail-on: 1 page loop",
  // changes
  noPageMatches: /^sitegrove: 0 of \d+ pages match --include 'zzz' or 'y' and remain after --exclude 'x'$/m,
  unavailable: (url: string) => `${url}: not read: Service unavailable (503)`,
  stateKept: (url: string) => `sitegrove: ${url}: its last known state is kept, because entries may be missing today\n`,
  mayBeRemoved:
    "sitegrove: 1 page may have been removed; listed once every sitemap can be read, or --exclude-sitemap leaves out those that cannot\n",
  onlyDatesChanged: "20 pages changed only in date, all to 2026-06-01; --ignore lastModified skips them",
  changesRead: (count: number) => `${count} changes from 1 sitemap in `,
};

/** Fleets, their queues, buckets and datasets. */
export const saidOfFleets = {
  // fleet
  earlierArchiveNotUsed: /complete 3 pages .*; earlier archive not used: /g,
  notWebsite: (place: string, text: string) => `sitegrove: ${place}: not a website: ${text}\n`,
  twoDuplicates: "sitegrove: 2 duplicates\n",
  twoLinesNotWebsites: "sitegrove: incomplete: 2 lines of the list are not websites\n",
  oneMoreNotWebsite: "and 1 more line that is not a website; --log-file lists all",
  tooManyOpenFiles: /too many open files/i,
  oneUnreachable: "sitegrove: incomplete: 1 of 3 websites not fully read: 1 unreachable\n",
  aboveLimit: "sitegrove: unreachable, failed or quarantined: 1 of 3 websites, more than --fail-above\n",
  continuing: "continuing: 3 websites done, 0 websites waiting",
  damagedLine: "incomplete: 1 line of sites.ndjson is damaged and was skipped",
  halfDone: "6 of 12 websites",
  oldest: / · 6 running · 18 pages · [\d.]+\/s · the oldest for [\d.]+ s: http:.*\n/,
  finishing: /finishing the websites in progress; (?:Ctrl-C again|a second SIGTERM) stops immediately/,
  websitesLeft: /\d+ websites left: run it again to continue/,
  folderInUse: (process: number | undefined) => `Process ${process} is using this folder; wait for it, or stop it`,
  fullDisk: /^sitegrove: \S*\/\S+ .*no space left on device\n$/m,
  noWebsite: "the list contains no website",
  isTable: "sitegrove: the list is a table: name the column with the homepages with --column\n",
  isList: (file: string) => `sitegrove: ${file} is a file; to crawl the websites in it: --from ${file}\n`,
  folderInPlaceOfFile: (folder: string) => `${folder} is a folder, but a fleet must write this file`,
  cannotCreate: /^sitegrove: \/proc\/x\S* cannot be .*: no such file or directory\n$/,
  progress: /\d+ of 10 websites · \d+ running · /,
  crawled: /http:\/\/127\.1\.0\.1:\d+\/ complete 3 pages [\d.]+ m?s\n/,
  fullLogFile: "the log file /dev/full can no longer be written; the fleet continues: no space left on device",
  // Queues
  addedNine: "sitegrove: monday: added 9 websites\n",
  nineKnown: "sitegrove: monday: added 0 websites; 9 websites already known\n",
  oneLineNotWebsite: "sitegrove: incomplete: 1 line of the list is not a website\n",
  removed: "sitegrove: monday: removed\n",
  emptyRun: (run: string) => `the run ${run} has no websites on this queue`,
  waiting: "waiting for more",
  twoToCrawlAgain: "sitegrove: default: 2 websites to crawl again\n",
  listCutShort: "cut: the end of the list may be missing: add it again",
  connectionRefused: "cannot be used: the connection was refused",
  wrongPassword: "the password is wrong",
  needsPassword: "it requires a password",
  // fleet dataset
  damagedFiles: (websites: string) => `incomplete: files of ${websites} are missing or damaged`,
  threeDamagedLines: "incomplete: 3 lines of sites.ndjson are damaged and were skipped",
  needsNdjson: "are in csv: a dataset needs a run with -f ndjson",
  twoWithoutResult: "incomplete: 2 websites have no result yet",
  severalRuns: (flag: string) => `has several runs: use ${flag} with one of monday, tuesday`,
  // Buckets
  unreadSummaries: "2 summaries could not be read",
  needsSecretKey: "sitegrove: s3:// needs AWS_SECRET_ACCESS_KEY\n",
  noSuchBucket: "sitegrove: s3://nowhere/x: there is no such bucket (NoSuchBucket)\n",
  bucketAddress: "Expected s3://BUCKET/PREFIX",
  endpointWithoutScheme: "must begin with http",
  // Failures
  reconnected: "reconnected to the queue",
  serverFull: "The queue failed: the server is full (maxmemory)",
  untrustedCertificate: /^sitegrove: The queue rediss:.* cannot be used: .*certificate.*\n$/,
  installBullmq: "--queue needs BullMQ: npm install bullmq ioredis",
  installIoredis: "--queue redis://… needs ioredis: npm install ioredis",
  installAws: "s3:// needs the AWS SDK: npm install @aws-sdk/client-s3 @aws-sdk/lib-storage",
};
