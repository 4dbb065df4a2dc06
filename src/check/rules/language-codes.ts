// Reads the codes that hreflang may have: https://developers.google.com/search/docs/specialty/international/localized-versions
//   "The value of the hreflang attribute identifies the language (in ISO 639-1 format) and optionally a region (in ISO 3166-1
//   Alpha 2 format)"; a script in ISO 15924. This file lists the codes, because the JavaScript engine also accepts codes that
//   are in none of the standards, such as UK and 419 for regions.

/** The language of a code in lower case and its region in upper case, or what is wrong with it. */
export interface LanguageCode {
  readonly fault?: "hreflang-code" | "hreflang-region";
  readonly language?: string;
  readonly region?: string;
}

export function readLanguageCode(code: string): LanguageCode {
  if (/^x-default$/i.test(code)) return { language: "x-default" };
  const match = /^([a-z]{2})(?:-([a-z]{4}))?(?:-([a-z]{2}))?$/i.exec(code);
  const language = match?.[1]?.toLowerCase() ?? "";
  const script = match?.[2]?.toLowerCase();
  if (!languages.has(language) || (script && !scripts.has(script))) return { fault: "hreflang-code" };
  const region = match?.[3]?.toUpperCase();
  if (region === undefined) return { language };
  return regions.has(region) ? { language, region } : { fault: "hreflang-region", language };
}

/**
 * Whether Google News accepts the language of a publication: an "ISO 639 language code (two or three letters)", or one of two
 * codes for Chinese. https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap
 */
export function isNewsLanguage(code: string): boolean {
  if (/^zh-(?:cn|tw)$/i.test(code)) return true;
  // ISO 639-2 and 639-3 assign thousands of three-letter codes, so any three letters are accepted.
  return code.length === 2 ? languages.has(code.toLowerCase()) : /^[a-z]{3}$/i.test(code);
}

// The languages of ISO 639-1.
const languages: ReadonlySet<string> = words(
  "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en " +
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja " +
    "jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb " +
    "nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq " +
    "sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu",
);

// The regions that ISO 3166-1 Alpha 2 assigns officially.
const regions: ReadonlySet<string> = words(
  "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ " +
    "CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO " +
    "FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE " +
    "JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO " +
    "MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW " +
    "PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM " +
    "TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW",
);

// The scripts of ISO 15924.
const scripts: ReadonlySet<string> = words(
  "adlm afak aghb ahom arab aran armi armn avst bali bamu bass batk beng berf bhks blis bopo brah brai bugi buhd " +
    "cakm cans cari cham cher chrs cirt copt cpmn cprt cyrl cyrs deva diak dogr dsrt dupl egyd egyh egyp elba elym " +
    "ethi gara geok geor glag gong gonm goth gran grek gujr gukh guru hanb hang hani hano hans hant hatr hebr hira " +
    "hluw hmng hmnp hrkt hung inds ital jamo java jpan jurc kali kana kawi khar khmr khoj kits knda kore kpel krai " +
    "kthi lana laoo latf latg latn leke lepc limb lina linb lisu loma lyci lydi mahj maka mand mani marc maya medf " +
    "mend merc mero mlym modi mong moon mroo mtei mult mymr nagm nand narb nbat newa nkgb nkoo nshu ogam olck onao " +
    "orkh orya osge osma ougr palm pauc pcun pelm perm phag phli phlp phlv phnx piqd plrd prti psin ranj rjng rohg " +
    "roro runr samr sara sarb saur sgnw shaw shrd shui sidd sidt sind sinh sogd sogo sora soyo sund sunu sylo syrc " +
    "syre syrj syrn tagb takr tale talu taml tang tavt tayo telu teng tfng tglg thaa thai tibt tirh tnsa todr tols " +
    "toto tutg ugar vaii visp vith wara wcho wole xpeo xsux yezi yiii zanb",
);

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(" "));
}
