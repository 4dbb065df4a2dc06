// The formats of `sitegrove check`, and the values of --fail-on.

export const checkFormats = ["text", "json", "sarif", "markdown", "github"] as const;
export type CheckFormat = (typeof checkFormats)[number];

export const failLevels = ["error", "warning", "info", "never"] as const;
export type FailLevel = (typeof failLevels)[number];
