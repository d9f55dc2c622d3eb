import { readFileSync, statSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { link, lstat, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SluiceError, getErrorCode } from '../../base/index.js';
import { fromRecordSchema } from '../../json/schema/index.js';
import { configFileSchema, type Config, type TokenConfig } from './config.js';
import { findUserFolder, makeFolder, parseJson, readSmallFile } from '../../base/files/index.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A named token for the server. Its name is recorded as the author of decisions. */
export interface Token {
  readonly name: string;
  readonly scopes: TokenConfig['scopes'];
  readonly value: string;
}

const tokensSchema = fromRecordSchema<readonly TokenConfig[]>(configFileSchema.properties.tokens);

/** The variables with the tokens, or with the path of their file, which can be replaced while the server runs. */
const LIST_VARIABLE = 'SLUICE_TOKENS';
const FILE_VARIABLE = 'SLUICE_TOKENS_FILE';

/** Reads the tokens: a JSON list in `SLUICE_TOKENS`, or in the file of `SLUICE_TOKENS_FILE`, or those configured. */
export function readTokens(config: Pick<Config, 'tokens'>, env: Environment): readonly Token[] {
  const listed = readFromEnvironment(env) ?? config.tokens ?? [];
  const tokens = listed.map(({ name, scopes, value, value_env }) => {
    const tokenValue = value_env === undefined ? value : env[value_env];
    if (tokenValue !== undefined && tokenValue !== '') return { name, scopes, value: requireLength(tokenValue, name) };
    throw createConfigError(
      value_env === undefined
        ? `The token "${name}" has no value. Set value_env to the name of the environment variable that contains it, or set value.`
        : `The environment variable ${value_env} is not set, but the token "${name}" refers to it. Set it.`,
    );
  });
  const duplicate = tokens.find(({ name }, index) => tokens.findIndex((token) => token.name === name) !== index);
  if (duplicate === undefined) return tokens;
  throw createConfigError(
    `Two tokens are named "${duplicate.name}". Rename one of them: the name records who made a decision.`,
  );
}

/**
 * Lists the values of all tokens, to mask them; never throws because of invalid tokens. A worker shares the server's
 * configuration but might lack its tokens, and a token that `readTokens` rejects is secret too.
 */
export function listTokenValues(config: Pick<Config, 'tokens'>, env: Environment): readonly string[] {
  const file = findTokensFile(env);
  const lists = [env[LIST_VARIABLE] ?? '', ...(file === undefined ? [] : [readIfPossible(file)])];
  return [...lists.flatMap(listEntries), ...(config.tokens ?? [])].flatMap(({ value = '', value_env = '' }) =>
    [value, env[String(value_env)]].filter((secret) => typeof secret === 'string'),
  );
}

function readIfPossible(tokensFile: string): string {
  try {
    return readTokensFile(tokensFile);
  } catch {
    return '';
  }
}

/** Lists the entries of a token list without checking their fields; empty if it is not a list. */
function listEntries(text: string): readonly { readonly value?: unknown; readonly value_env?: unknown }[] {
  const list = parseJson(text);
  return Array.isArray(list) ? list.filter((entry: unknown) => typeof entry === 'object' && entry !== null) : [];
}

/** Returns the path of the token file, if the environment names one. */
export function findTokensFile(env: Environment): string | undefined {
  const path = env[FILE_VARIABLE]?.trim() ?? '';
  return path === '' ? undefined : path;
}

function readFromEnvironment(env: Environment): readonly TokenConfig[] | undefined {
  const [file, list] = [findTokensFile(env), env[LIST_VARIABLE]?.trim() ?? ''];
  if (file === undefined) return list === '' ? undefined : readList(list, LIST_VARIABLE);
  if (list !== '') throw createConfigError(`${LIST_VARIABLE} and ${FILE_VARIABLE} are both set. Unset one of them.`);
  return readList(readTokensFile(file), `The file in ${FILE_VARIABLE}`);
}

/** Enough for thousands of tokens. */
const MAX_FILE_BYTES = 1024 * 1024;

/** Reads the token file. Its path comes from the operator, so links are followed: container secrets are links. */
function readTokensFile(path: string): string {
  try {
    const file = statSync(path);
    // A device has no size and might never end.
    if (file.isFile() && file.size <= MAX_FILE_BYTES) return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = getErrorCode(error) ?? 'unknown error';
    throw createConfigError(
      `Cannot read the file "${path}" in ${FILE_VARIABLE} (${reason}). Check the path and its permissions.`,
    );
  }
  throw createConfigError(
    `The file in ${FILE_VARIABLE} is not a regular file, or larger than ${MAX_FILE_BYTES} bytes. Check its path.`,
  );
}

/** A shorter token could be guessed. */
const MIN_CHARACTERS = 16;

function requireLength(value: string, name: string): string {
  if (value.length >= MIN_CHARACTERS) return value;
  throw createConfigError(`The token "${name}" is too short. Use at least ${MIN_CHARACTERS} random characters.`);
}

/** Parses the list. The messages do not repeat its content, which is secret. */
function readList(text: string, source: string): readonly TokenConfig[] {
  const value = parseJson(text);
  if (value === undefined)
    throw createConfigError(`${source} is not valid JSON. Write a list of { name, scopes, value }.`);
  const checked = tokensSchema['~standard'].validate(value);
  if (checked instanceof Promise || checked.issues === undefined) return value as readonly TokenConfig[];
  const paths = checked.issues.map(({ path = [] }) => path.map(String).join('.') || 'the top level');
  throw createConfigError(`${source} is invalid at ${paths.join(', ')}. Write a list of { name, scopes, value }.`);
}

function createConfigError(message: string): SluiceError {
  return new SluiceError('INVALID_CONFIG', message);
}

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
  if (stats?.isFile() !== true || (stats.mode & 0o077) !== 0) return undefined;
  if (process.getuid !== undefined && process.getuid() !== stats.uid) return undefined;
  const value = (await readSmallFile(file, TOKEN_FILE_BYTES).catch(() => undefined))?.trim() ?? '';
  return TOKEN.test(value) ? value : undefined;
}

/** Returns this user's token, generated on first use. If it cannot be stored, it is valid only for this process. */
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

/** Replaces the token: running servers accept the new one within seconds; browsers with the old one are signed out. */
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
  try {
    await writeFile(temporary, `${value}\n`, { flag: 'wx', mode: 0o600 });
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
