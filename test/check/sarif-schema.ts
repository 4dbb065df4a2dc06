// The part of SARIF 2.1.0 that a check may write, section by section of
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html. Nothing else may be there, so a new property needs a line here.

const text = { type: "string" };
const uri = { type: "string", format: "uri" };
const level = { enum: ["none", "note", "warning", "error"] };
const bag = { type: "object", properties: { tags: { type: "array", items: text, uniqueItems: true } } };

function object(properties: Readonly<Record<string, unknown>>, ...required: readonly string[]): object {
  return { type: "object", properties, required, additionalProperties: false };
}

function list(items: object, more: object = {}): object {
  return { type: "array", items, ...more };
}

// 3.11 and 3.12
const message = object({ text }, "text");
// 3.4
const artifactLocation = object({ uri: { type: "string", format: "uri-reference" }, uriBaseId: text });
// 3.28 to 3.30
const location = object({
  physicalLocation: object({ artifactLocation, region: object({ startLine: { type: "integer", minimum: 1 } }) }),
  message,
});
// 3.49
const rule = object(
  {
    id: text,
    shortDescription: message,
    fullDescription: message,
    help: message,
    helpUri: uri,
    defaultConfiguration: object({ level }),
    properties: bag,
  },
  "id",
);
// 3.27
const result = object(
  {
    ruleId: text,
    ruleIndex: { type: "integer", minimum: 0 },
    level,
    message,
    locations: list(location),
    relatedLocations: list(location, { uniqueItems: true }),
    partialFingerprints: { type: "object", additionalProperties: text },
    properties: bag,
  },
  "message",
);
// 3.14
const run = object(
  {
    tool: object(
      {
        driver: object(
          { name: text, version: text, informationUri: uri, rules: list(rule, { uniqueItems: true }) },
          "name",
        ),
      },
      "driver",
    ),
    invocations: list(
      object(
        {
          executionSuccessful: { type: "boolean" },
          toolExecutionNotifications: list(object({ level, message }, "message")),
        },
        "executionSuccessful",
      ),
    ),
    originalUriBaseIds: { type: "object", additionalProperties: artifactLocation },
    results: list(result),
    columnKind: { enum: ["utf16CodeUnits", "unicodeCodePoints"] },
    properties: bag,
  },
  "tool",
);

// 3.13
export const sarifSchema: object = object(
  { $schema: uri, version: { const: "2.1.0" }, runs: list(run) },
  "version",
  "runs",
);
