import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SluiceError } from '../../base/index.js';

/** A console file. */
export interface ConsoleFile {
  readonly bytes: Buffer;
  readonly type: string;
  /** The hash of its content. */
  readonly tag: string;
  /** Whether its name contains a hash, so browsers may cache it forever. */
  readonly isNamedByContent: boolean;
}

/** The console's files by path, such as `/assets/index-Cx3.js`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** The console's build folder. Its relative path is the same from the sources and from the build. */
export const CONSOLE_FOLDER = fileURLToPath(new URL('../../../dist/web/', import.meta.url));

/** The HTML document shared by all pages. */
export const CONSOLE_PAGE = '/index.html';

/** The maximum number of files. A built console has a few dozen. */
const MAX_FILES = 500;
const MAX_BYTES = 16 * 1024 * 1024;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * Reads the files of the built console, or undefined if it is not built. Links are skipped. The server serves no other
 * files.
 */
export function readConsole(folder: string): ConsoleFiles | undefined {
  const files = new Map<string, ConsoleFile>();
  let total = 0;
  for (const path of listFiles(folder)) {
    total += statSync(path).size;
    if (files.size >= MAX_FILES || total > MAX_BYTES) {
      throw new SluiceError('INVALID_CONSOLE', `The console in "${folder}" is too large. Build the package again.`);
    }
    const bytes = readFileSync(path);
    const name = `/${relative(folder, path).split(sep).join('/')}`;
    files.set(name, {
      bytes,
      type: TYPES[extname(name)] ?? 'application/octet-stream',
      tag: createHash('sha256').update(bytes).digest('base64url').slice(0, 22),
      isNamedByContent: name.startsWith('/assets/'),
    });
  }
  return files.has(CONSOLE_PAGE) ? files : undefined;
}

function* listFiles(folder: string): Generator<string> {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  } catch {
    // The console is not built or not installed: the server works without it.
    return;
  }
  for (const entry of entries) if (entry.isFile()) yield join(entry.parentPath, entry.name);
}
