// Loads the scripts of the built program, and keeps their compiled code in the user's folder for caches. Compiling is a
// third of the time that a small website takes. Node.js has such a cache only from 22.8 on; this one serves all versions.
//
// The cache is never needed and never trusted: code is used only if this user wrote it, if its checksum is right, and
// if it was made by this engine, with these flags, from this script. Names of scripts contain a hash of their content.
import type { Script } from "node:vm";

// Not imported: an import of a built-in module computes all its exports, which takes longer than loading it.
const fs = process.getBuiltinModule("node:fs");
const path = process.getBuiltinModule("node:path");
const vm = process.getBuiltinModule("node:vm");
const v8 = process.getBuiltinModule("node:v8");
const zlib = process.getBuiltinModule("node:zlib");
const { createRequire } = process.getBuiltinModule("node:module");

export class CompiledCode {
  readonly #scriptFolder: string;
  readonly #codeFolder: string | undefined;
  readonly #require: NodeJS.Require;
  readonly #modules = new Map<string, { exports: unknown }>();
  // Scripts without code in the cache, by the file it belongs into.
  readonly #compiled = new Map<string, Script>();
  // Depends on the engine and on its flags.
  readonly #version = v8.cachedDataVersionTag();

  /** `scriptFolder`: where the scripts are. */
  constructor(scriptFolder: string, codeFolder: string | undefined = folderForCode()) {
    this.#scriptFolder = scriptFolder;
    this.#codeFolder = codeFolder;
    this.#require = createRequire(path.join(scriptFolder, "main.js"));
  }

  /** As `require`, which it is for everything but scripts of the program. */
  readonly load = (name: string): unknown => {
    if (this.#codeFolder === undefined || !name.startsWith("./")) return this.#require(name);
    const loaded = this.#modules.get(name);
    if (loaded !== undefined) return loaded.exports;
    const module = { exports: {} };
    this.#modules.set(name, module);
    const file = path.join(this.#scriptFolder, name);
    const script = this.#compile(file, path.join(this.#codeFolder, `${path.basename(name)}-${this.#version}`));
    script.runInThisContext()(module.exports, this.load, module, file, importPackage);
    return module.exports;
  };

  #compile(file: string, codeFile: string): Script {
    const source = fs.readFileSync(file, "utf8");
    const cachedData = readCode(codeFile);
    // The same parameters as those of a CommonJS module, as far as they are used. `import()` would be experimental here: the
    // build puts calls of `importPackage` in its place.
    const script = new vm.Script(`(function (exports, require, module, __filename, importPackage) {${source}\n})`, {
      filename: file,
      cachedData,
    });
    if (cachedData === undefined || script.cachedDataRejected) this.#compiled.set(codeFile, script);
    return script;
  }

  /** To be called at the end: functions are compiled when they are first called. */
  keep(): void {
    // With other flags than at the start, the code would never be used.
    if (this.#codeFolder === undefined || this.#compiled.size === 0 || v8.cachedDataVersionTag() !== this.#version)
      return;
    try {
      if (!isOwnPlace(this.#codeFolder)) return;
      for (const folder of [path.dirname(this.#codeFolder), this.#codeFolder]) makeFolder(folder);
      removeOldCode(this.#codeFolder);
      for (const [codeFile, script] of this.#compiled) writeCode(codeFile, script.createCachedData());
    } catch {
      // A full disk, or a folder that cannot be written: the next run compiles again.
    }
  }
}

function importPackage(name: string): Promise<unknown> {
  return import(name);
}

// The variables are those that turn off the cache of Node.js. Neither coverage nor source maps know code from a cache.
function folderForCode(): string | undefined {
  const { NODE_DISABLE_COMPILE_CACHE, NODE_V8_COVERAGE, XDG_CACHE_HOME, LOCALAPPDATA, HOME } = process.env;
  if (NODE_DISABLE_COMPILE_CACHE || NODE_V8_COVERAGE || process.sourceMapsEnabled) return undefined;
  const atHome = HOME && path.join(HOME, process.platform === "darwin" ? "Library/Caches" : ".cache");
  const parent = XDG_CACHE_HOME || (process.platform === "win32" ? LOCALAPPDATA : atHome);
  return parent && path.isAbsolute(parent) ? path.join(parent, "sitegrove") : undefined;
}

// With `sudo`, the home may be another user's: nothing is left there that they could not remove.
function isOwnPlace(folder: string): boolean {
  const found = fs.statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return isOwnPlace(path.dirname(folder));
  return process.getuid === undefined || found.uid === process.getuid();
}

// Not with `recursive`, which makes a home that is missing, and never returns below /proc.
function makeFolder(folder: string): void {
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

// A file of the cache is a checksum of four bytes, then the code: the engine would crash on damaged code.
function readCode(file: string): Buffer | undefined {
  try {
    // In a folder of another user there may be anything: a pipe that nobody writes to, a link to a device, a huge file.
    const descriptor = fs.openSync(file, fs.constants.O_RDONLY | notThrough);
    try {
      const found = fs.fstatSync(descriptor);
      if (!found.isFile() || found.size > mostBytes) return undefined;
      // Whoever can write the file can make this user run anything.
      if (process.getuid !== undefined && (found.uid !== process.getuid() || (found.mode & 0o022) !== 0))
        return undefined;
      const bytes = fs.readFileSync(descriptor);
      const code = bytes.subarray(checksumBytes);
      return code.length > 0 && zlib.crc32(code) === bytes.readUInt32LE() ? code : undefined;
    } finally {
      fs.closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

// Under another name first, because other processes may be reading or writing the same.
function writeCode(file: string, code: Buffer): void {
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32LE(zlib.crc32(code));
  const part = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(part, Buffer.concat([checksum, code]), { flag: "wx", mode: 0o600 });
    fs.renameSync(part, file);
  } catch (error) {
    fs.rmSync(part, { force: true });
    throw error;
  }
}

// Code of versions that are no longer installed, and what killed processes left. Other files are somebody else's, even here.
function removeOldCode(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    if (!ownName.test(name)) continue;
    const file = path.join(folder, name);
    if (Date.now() - fs.lstatSync(file).mtimeMs > longestKept) fs.rmSync(file, { force: true });
  }
}

const ownName = /^[\w-]+\.cjs-\d+(?:\.\d+)?$/;
// Windows has neither.
const notThrough = (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);
const checksumBytes = 4;
const mostBytes = 64 * 1024 * 1024;
const longestKept = 30 * 24 * 60 * 60 * 1000;
