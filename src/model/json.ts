// Checks of parsed JSON, for files that another version or another program may have written.

export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a parsed value is an object, not null or a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
