import { randomBytes } from 'node:crypto';
import { link, lstat, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorCode } from '../../base/index.js';
import { findUserFolder, makeFolder, openNew, readSmallFile } from '../../base/files/index.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** This user's token on this host, for servers on loopback without configured tokens. */
export interface LocalToken {
  readonly value: string;
  /** The file that contains it, readable only by this user; null if it could not be stored and is valid only for this process. */
  readonly file: string | null;
}

/** The form of a token: 32 random bytes. Anything else in the file was not written by Sluice. */
const TOKEN = /^[\w-]{43}$/;
const TOKEN_FILE_BYTES = 1024;

/** Returns the path of the token file, which might not exist yet; it is outside every project. */
export function findLocalTokenFile(env: Environment): string {
  return join(findUserFolder(env), 'token');
}

/** Reads the stored token; returns undefined if it is missing, or if other users could have read or written it. */
export async function readLocalToken(env: Environment): Promise<string | undefined> {
  // The user's data folder can be a link to another disk.
  const folder = await realpath(findUserFolder(env)).catch(() => findUserFolder(env));
  const file = join(folder, 'token');
  const stats = await lstat(file).catch(() => undefined);
  if (stats?.isFile() !== true || (stats.mode & 0o077) !== 0 || !isOwnedByUser(stats.uid)) return undefined;
  const value = (await readSmallFile(file, TOKEN_FILE_BYTES).catch(() => undefined))?.trim() ?? '';
  return TOKEN.test(value) ? value : undefined;
}

/**
 * Returns this user's token, which is generated on first use. If it cannot be stored, it is valid only for this
 * process.
 *
 * @example
 * const { value, file } = await openLocalToken(process.env)
 */
export async function openLocalToken(env: Environment): Promise<LocalToken> {
  const file = findLocalTokenFile(env);
  const stored = await readLocalToken(env);
  if (stored !== undefined) return { value: stored, file };
  const value = generateToken();
  try {
    return await storeToken(file, value, env);
  } catch {
    return { value, file: null };
  }
}

/**
 * Replaces the token: running servers accept the new one within seconds, and browsers that signed in with the old one
 * are signed out.
 */
export async function rotateLocalToken(env: Environment): Promise<LocalToken> {
  const file = findLocalTokenFile(env);
  await rm(file, { force: true });
  return storeToken(file, generateToken(), env);
}

function generateToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The file is created atomically, so a reader never sees part of a token. */
async function storeToken(file: string, value: string, env: Environment): Promise<LocalToken> {
  await makeFolder(findUserFolder(env));
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await openNew(temporary, 0o600);
  try {
    try {
      await handle.writeFile(`${value}\n`);
    } finally {
      await handle.close();
    }
    await link(temporary, file).catch(async (error: unknown) => {
      if (getErrorCode(error) !== 'EEXIST') throw error;
      // Replace a file that other users could have read. Otherwise another process created it first: use its token.
      if ((await readLocalToken(env)) === undefined) await rename(temporary, file);
    });
    return { value: (await readLocalToken(env)) ?? value, file };
  } finally {
    await rm(temporary, { force: true });
  }
}

function isOwnedByUser(uid: number): boolean {
  return process.getuid === undefined || process.getuid() === uid;
}
