export declare function translate(): Promise<string>;
