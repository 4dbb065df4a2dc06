// A resolver that answers from a table and records the names that were looked up.
export interface StubResolver {
  (hostName: string): Promise<readonly string[]>;
  readonly asked: readonly string[];
}

/** For each name its addresses, a list of answers to be given in turn (the last one stays), or the code of an error. */
export type Answers = Readonly<Record<string, string | readonly string[] | readonly (readonly string[])[]>>;

export function stubResolver(answers: Answers): StubResolver {
  const asked: string[] = [];
  const resolve = async (hostName: string) => {
    asked.push(hostName);
    const answer = answers[hostName] ?? "ENOTFOUND";
    if (typeof answer === "string")
      throw Object.assign(new Error(`getaddrinfo ${answer} ${hostName}`), { code: answer });
    const nth = asked.filter((name) => name === hostName).length;
    const chosen = answer.every((item) => typeof item === "string") ? answer : answer[Math.min(nth, answer.length) - 1];
    return chosen as readonly string[];
  };
  return Object.assign(resolve, { asked });
}
