export function bundle(names: readonly string[], dir: string): Promise<void>;
