// The formats of `sitegrove check` by name, and from which severity on it fails.

export const checkFormats = ["text", "json", "sarif", "markdown", "github"] as const;
export type CheckFormat = (typeof checkFormats)[number];

export const failLevels = ["error", "warning", "info", "never"] as const;
export type FailLevel = (typeof failLevels)[number];
