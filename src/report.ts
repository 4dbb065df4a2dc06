// The public API of `sitegrove/report`: re-exports, nothing else.
/**
 * The page about a website, and the facts behind it.
 * @module sitegrove/report
 */
export type { LanguageCount, LanguageLinks } from "./report/languages.ts";
export * from "./report/report-tree.ts";
