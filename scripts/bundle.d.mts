export function inputs(names: readonly string[]): Record<string, string>;
export function bundle(names: readonly string[], dir: string): Promise<void>;
export function write(options: object, dir: string, output: object): Promise<unknown>;
