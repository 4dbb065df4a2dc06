// What robots.txt lets the chosen crawlers fetch.

export class RobotsAccess {
  readonly agents: readonly string[];
  isKnown = false;

  constructor(agents: readonly string[]) {
    this.agents = agents;
  }

  /** The crawlers that may not fetch a URL; undefined where all may, or nobody knows. */
  blocked(_url: string): Blocked | undefined {
    return undefined;
  }
}

export interface Blocked {
  /** Their names, for people. */
  readonly agents: string;
  /** The one that matters most is among them. */
  readonly isFirst: boolean;
}
