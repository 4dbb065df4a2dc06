// Makes fast paths. All of them share one matcher: reading a piece of a document is never interrupted, so what a document needs in the
// matcher's memory is put there for each piece.
import { type CreateFastPath, noFastPath } from "../fast-path.ts";
import { Follower } from "./follower.ts";
import { createMatcher, type Matcher } from "./matcher.ts";

/** Fast paths with this matcher. Without one everything is left to the scanner. */
export function fastPathWith(matcher: Matcher | undefined): CreateFastPath {
  if (matcher === undefined) return noFastPath;
  // `strict` looks at everything.
  return (parts) => (parts.cursor.strict ? noFastPath(parts) : new Follower(parts, matcher));
}

let usual: CreateFastPath | undefined;

/** What to use where nothing else is asked for. The matcher is made for the first document that could use it. */
export const usualFastPath: CreateFastPath = (parts) => {
  usual ??= fastPathWith(createMatcher());
  return usual(parts);
};
