// The names of time zones in dates. https://www.rfc-editor.org/rfc/rfc822#section-5.1 has the American ones; others are
// listed only if they mean the same offset everywhere.

/** The offset of a zone; undefined if the name is unknown, or means different offsets in different places. */
export function offsetOfZone(name: string): string | undefined {
  return zones.get(name.toUpperCase());
}

/**
 * Whether this looks like the name of a zone, so that the time before it cannot be placed, but the day can. BST is an hour ahead of
 * UTC in Britain and six in Bangladesh; IST is the time of India, Israel and Ireland. https://www.rfc-editor.org/rfc/rfc2822#section-4.3
 * on the single letters of RFC 822: "they do not convey any useful information".
 */
export function isZoneName(name: string): boolean {
  return /^[A-Z]{1,5}$/.test(name) || ambiguous.has(name.toUpperCase());
}

const zones: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Z: "Z UT UTC GMT",
    "+00:00": "WET",
    "+01:00": "CET WEST WAT",
    "+02:00": "CEST EET CAT SAST",
    "+03:00": "EEST MSK EAT TRT",
    "+03:30": "IRST",
    "+04:30": "AFT",
    "+05:00": "PKT UZT YEKT",
    "+05:45": "NPT",
    "+06:30": "MMT",
    "+07:00": "WIB ICT KRAT",
    "+08:00": "AWST HKT SGT PHT WITA MYT IRKT",
    "+09:00": "JST KST WIT YAKT",
    "+09:30": "ACST",
    "+10:00": "AEST CHST VLAT",
    "+10:30": "ACDT",
    "+11:00": "AEDT",
    "+12:00": "NZST FJT",
    "+13:00": "NZDT",
    "-02:30": "NDT",
    "-03:00": "BRT ART UYT",
    "-03:30": "NST",
    "-04:00": "EDT VET BOT",
    "-05:00": "EST CDT PET",
    "-06:00": "CST MDT",
    "-07:00": "MST PDT",
    "-08:00": "PST AKDT",
    "-09:00": "AKST",
    "-10:00": "HST",
  }).flatMap(([offset, names]) => names.split(" ").map((name) => [name, offset] as const)),
);

// In whatever case they are written.
const ambiguous: ReadonlySet<string> = new Set(["ADT", "AMT", "AST", "BST", "COT", "ECT", "GST", "IST", "SST", "WST"]);
