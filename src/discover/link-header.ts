// The links in a `Link` header (https://www.rfc-editor.org/rfc/rfc8288#section-3).

// One parameter: `name`, `name=token` or `name="quoted"`, and what follows it up to the next one.
const parameter = /([^=;,]*)(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"?|([^;,]*)))?[^;,]*/sy;

/** link-value = "<" URI-Reference ">" *( ";" parameter ), separated by commas. */
export function* linkValues(value: string): Generator<{ target: string; relation: string; type: string }, void> {
  for (let at = 0; at < value.length; at += 1) {
    const open = value.indexOf("<", at);
    const close = value.indexOf(">", open + 1);
    if (open === -1 || close === -1) return;
    const parameters = new Map<string, string>();
    at = close + 1;
    while (at < value.length && value[at] !== ",") {
      parameter.lastIndex = at + 1;
      const [, written = "", quoted, token = ""] = parameter.exec(value) ?? [];
      const name = written.trim().toLowerCase();
      // "The rel parameter MUST NOT appear more than once": the first counts.
      if (!parameters.has(name)) parameters.set(name, quoted?.replaceAll(/\\(.)/gs, "$1") ?? token.trim());
      at = parameter.lastIndex;
    }
    const [relation = "", type = ""] = [parameters.get("rel"), parameters.get("type")];
    yield { target: value.slice(open + 1, close), relation, type };
  }
}
