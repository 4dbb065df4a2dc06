// What can be said of a host by its name, and how two hosts are related.
import ipaddr from "ipaddr.js";
import { parseUrl } from "../model/url.ts";

/** The beginning of a URL, up to its path. */
export interface Origin {
  readonly scheme: "http" | "https";
  /** In lower case, with a port that is not the default one. */
  readonly host: string;
  /** `private`: nobody outside can open it. `staging`: it looks as if nobody should. */
  readonly reach: "public" | "private" | "staging";
  readonly hasCredentials: boolean;
  /** Written with capitals, a default port, or a dot at its end. */
  readonly isOddlyWritten: boolean;
}

export function readOrigin(text: string): Origin | undefined {
  const url = parseUrl(text);
  if (url === null) return undefined;
  const name = url.hostname.replace(/\.$/, "");
  // As written: without the scheme, a user name and a port.
  const authority = text.slice(text.indexOf("//") + 2).replace(/^.*@/, "");
  const written = authority.replace(/:\d*$/, "");
  const hasDefaultPort = written !== authority && url.port === "";
  return {
    scheme: url.protocol === "https:" ? "https" : "http",
    host: name + (url.port === "" ? "" : `:${url.port}`),
    reach: reachOf(name),
    hasCredentials: url.username !== "" || url.password !== "",
    isOddlyWritten: /[A-Z]/.test(written) || /^[^/]*[A-Z]/.test(text) || written.endsWith(".") || hasDefaultPort,
  };
}

function reachOf(name: string): Origin["reach"] {
  const literal = name.startsWith("[") ? name.slice(1, -1) : name;
  // For a name, ipaddr.js throws and catches errors, which takes longer than everything else here.
  const mayBeAddress = /^[\d.]+$|:/.test(literal);
  if (mayBeAddress && ipaddr.isValid(literal))
    return ipaddr.process(literal).range() === "unicast" ? "public" : "private";
  const labels = name.split(".");
  if (labels.length === 1 || reservedNames.has(labels.at(-1) as string)) return "private";
  return labels.length > 2 && stagingNames.has(labels[0] as string) ? "staging" : "public";
}

// https://www.rfc-editor.org/rfc/rfc6761, https://www.rfc-editor.org/rfc/rfc6762 and the top-level domain that ICANN reserves.
const reservedNames = new Set(["local", "localhost", "test", "example", "invalid", "internal", "localdomain", "lan"]);
const stagingNames = new Set(["staging", "stage", "stg", "preprod", "uat", "qa", "dev", "test"]);
