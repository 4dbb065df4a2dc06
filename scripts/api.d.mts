export const entryPoints: Readonly<Record<string, string>>;
export function apiListings(): Promise<Map<string, string>>;
