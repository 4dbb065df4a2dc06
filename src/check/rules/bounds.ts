// The thresholds that rules use. Those that the parser also needs are in model/sitemap.ts. Times are in milliseconds, unless noted.

export const bounds = {
  /** The longest URL that Yandex accepts, in characters without percent-encoding. */
  yandexUrlLength: 1024,
  /** A sitemap with more entries or bytes than this is close to the limits of the protocol. */
  nearEntries: 45_000,
  nearBytes: 47_000_000,
  /** Larger documents should be compressed. */
  uncompressedBytes: 1_000_000,
  /** A sitemap is slow if its first byte takes longer. */
  slow: 5_000,
  /** A sitemap's date in its index may be this much older than its newest page, because clocks differ. */
  indexStale: 86_400_000,
  /** With fewer sitemaps in an index, equal dates may be a coincidence. */
  indexDates: 10,
  /** A date may be this much later than the time its sitemap was received, because clocks and time zones differ. */
  future: 86_400_000,
  /** The year of the first web page. Older dates are wrong. */
  firstYear: 1991,
  /** A website that lists fewer pages may leave out its homepage on purpose. */
  homepagePages: 10,
  /** With fewer pages, equal dates or images may be a coincidence. */
  datedPages: 10,
  /** If at least this share of the pages is affected, that counts as all of them. */
  nearlyAll: 0.95,
  /** Dates this close to each other, and at most `generatedAge` from the request, are from one run of a generator. */
  generatedSpread: 60_000,
  generatedAge: 86_400_000,
  /** At least this share of the pages should have a date. */
  datedShare: 0.5,
  /** Two dates of one page contradict each other if they are further apart than this. */
  lastmodConflict: 1_000,
  /** A path with at least this many combinations of the same parameters is a list with filters. */
  facetSets: 20,
  /** A parameter with more values is not a filter. */
  facetValues: 1000,
  newsStories: 1000,
  newsAge: 172_800_000,
  /** A news date without a time may mean any hour of its day, so it gets a day more than `newsAge`. */
  newsAgeOfDate: 259_200_000,
  images: 1000,
  /** An image on at least this share of the pages with images is a placeholder. */
  placeholderShare: 0.5,
  /** The duration of a video, in seconds. */
  videoDuration: { least: 1, most: 28_800 },
  videoRating: { least: 0, most: 5 },
  videoDescription: 2048,
  videoTags: 32,
  videoUploader: 255,
  /** How much older a page's own date may be than its `lastmod`. */
  pageOlder: 2_592_000_000,
  /** With fewer dates, they alone do not tell whether they can be trusted. */
  trustedDates: 10,
  /** If a smaller share of the dates is wrong, the others are still trusted. */
  untrustedShare: 0.05,
  /** A date at most this many seconds from the request is the time of the request. */
  requestSpread: 60,
  /** How much newer a page's own date may be than its `lastmod`, because time zones differ. */
  pageNewer: 86_400_000,
  /** How many pages are compared with their content in an earlier run at most. */
  comparedPages: 5_000,
  /** If a page has fewer letters that no other page has, or fewer of them changed, it is unknown whether its content changed. */
  ownLetters: 30,
  /** How many images are requested at most: for one page, and in all. */
  imagesOfPage: 3,
  imageRequests: 1000,
  /** How many bytes of a page are read at most, for its canonical URL, robots tag and text. */
  pageBytes: 524_288,
} as const;
