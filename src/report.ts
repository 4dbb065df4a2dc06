// The public API of `sitegrove/report`: re-exports, nothing else.
/**
 * The HTML report about a website, and the data behind it.
 * @module sitegrove/report
 */
export * from "./report/facts.ts";
export * from "./report/report-tree.ts";
