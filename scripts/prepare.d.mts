export function install(folder: string): void;
