// The thresholds that rules use. Those that the parser also needs are in model/sitemap.ts. Times are in milliseconds.

export const bounds = {
  /** Characters of a URL without percent-encoding that Yandex accepts. */
  yandexUrlLength: 1024,
  /** Close to the limits of the protocol. */
  nearEntries: 45_000,
  nearBytes: 47_000_000,
  /** Larger documents should be compressed. */
  uncompressedBytes: 1_000_000,
  /** A sitemap whose first byte takes longer is slow. */
  slow: 5_000,
  /** How much older the date in an index may be than its pages: clocks differ. */
  indexStale: 86_400_000,
  /** In an index with fewer children, equal dates may be a coincidence. */
  indexDates: 10,
  /** A page cannot have changed after its sitemap was received, except for clocks and time zones: a day at most. */
  future: 86_400_000,
  /** The first web page is from 1991. */
  firstYear: 1991,
  /** A website that lists fewer pages does not list all of its pages. */
  homepagePages: 10,
  /** With fewer pages, equal dates or images may be a coincidence. */
  datedPages: 10,
  /** The share of pages that counts as all of them. */
  nearlyAll: 0.95,
  /** Dates within this time were written by one run of a generator. */
  generatedSpread: 60_000,
  generatedAge: 86_400_000,
  /** The share of pages that should have a date. */
  datedShare: 0.5,
  /** Two dates of one page further apart than this contradict each other. */
  lastmodConflict: 1_000,
  /** A path with at least this many combinations of the same parameters is a filtered list. */
  facetSets: 20,
  /** A parameter with more values is not a filter. */
  facetValues: 1000,
  newsStories: 1000,
  newsAge: 172_800_000,
  /** A date without a time may mean any hour of the day. */
  newsAgeOfDate: 259_200_000,
  images: 1000,
  /** An image on at least this share of the pages is a placeholder. */
  placeholderShare: 0.5,
  /** In seconds. */
  videoDuration: { least: 1, most: 28_800 },
  videoRating: { least: 0, most: 5 },
  videoDescription: 2048,
  videoTags: 32,
  videoUploader: 255,
  /** How much older the Last-Modified of a page may be than its `lastmod`. */
  pageOlder: 2_592_000_000,
  /** With fewer dates, it is unknown whether dates can be trusted. */
  trustedDates: 10,
  /** If a smaller share of the dates is wrong, the others are still trusted. */
  untrustedShare: 0.05,
  /** A date at most this far from the request is the time of the request, in seconds. */
  requestSpread: 60,
  /** How much newer a page's own date may be than its `lastmod`: time zones differ. */
  pageNewer: 86_400_000,
  /** Pages whose content is compared with an earlier run. */
  comparedPages: 5_000,
  /** Letters that only this page has, or that changed only there. With fewer, nothing is known about its content. */
  ownLetters: 30,
  /** Images that are requested, of one page and in all. */
  imagesOfPage: 3,
  imageRequests: 1000,
  /** Bytes of a page that are read for its canonical URL and robots tag. */
  pageBytes: 524_288,
} as const;
