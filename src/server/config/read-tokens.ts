import { closeSync, openSync, readSync } from 'node:fs';
import { SluiceError, getErrorCode, isSluiceError } from '../../base/index.js';
import { fromRecordSchema } from '../../json/schema/index.js';
import { configFileSchema } from './config.js';
import type { Config, TokenConfig } from './config.js';

/** A named token for the server. Its name is recorded as the author of decisions. */
export interface Token {
  readonly name: string;
  readonly scopes: TokenConfig['scopes'];
  readonly value: string;
}

const tokensSchema = fromRecordSchema<readonly TokenConfig[]>(configFileSchema.properties.tokens);

/**
 * The environment variables that contain the tokens, or the path of a token file, which can be replaced while the
 * server runs.
 */
const LIST_VARIABLE = 'SLUICE_TOKENS';
const FILE_VARIABLE = 'SLUICE_TOKENS_FILE';

/**
 * Reads the tokens: a JSON list in `SLUICE_TOKENS` or in the file named by `SLUICE_TOKENS_FILE`, or else the configured
 * tokens.
 *
 * @example
 * readTokens({}, { SLUICE_TOKENS: '[{"name":"ada","scopes":["read","decide"],"value":"…"}]' })
 */
export function readTokens(
  config: Pick<Config, 'tokens'>,
  env: Readonly<Record<string, string | undefined>>,
): readonly Token[] {
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
export function listTokenValues(
  config: Pick<Config, 'tokens'>,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const file = findTokensFile(env);
  const lists = [env[LIST_VARIABLE] ?? '', ...(file === undefined ? [] : [readIfPossible(file)])];
  return [...lists.flatMap(listEntries), ...(config.tokens ?? [])].flatMap(({ value = '', value_env = '' }) =>
    [value, env[String(value_env)]].filter((secret) => typeof secret === 'string'),
  );
}

function readIfPossible(tokensFile: string): string {
  try {
    return readTokensFile(tokensFile);
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    return '';
  }
}

/** Lists the entries of a token list without checking their fields; empty if it is not a list. */
function listEntries(text: string): readonly { readonly value?: unknown; readonly value_env?: unknown }[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter((entry: unknown) => typeof entry === 'object' && entry !== null) : [];
  } catch {
    return [];
  }
}

/** Returns the path of the token file, if the environment names one. */
export function findTokensFile(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const path = env[FILE_VARIABLE]?.trim() ?? '';
  return path === '' ? undefined : path;
}

function readFromEnvironment(env: Readonly<Record<string, string | undefined>>): readonly TokenConfig[] | undefined {
  const [file, list] = [findTokensFile(env), env[LIST_VARIABLE]?.trim() ?? ''];
  if (file === undefined) return list === '' ? undefined : readList(list, LIST_VARIABLE);
  if (list !== '') throw createConfigError(`${LIST_VARIABLE} and ${FILE_VARIABLE} are both set. Unset one of them.`);
  return readList(readTokensFile(file), `The file in ${FILE_VARIABLE}`);
}

/** Enough for thousands of tokens. */
const MAX_FILE_BYTES = 1024 * 1024;

/** Reads the token file. Its path comes from the operator, so links are followed: container secrets are links. */
function readTokensFile(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const buffer = Buffer.alloc(MAX_FILE_BYTES + 1);
    const length = readSync(file, buffer, 0, buffer.length, 0);
    if (length > MAX_FILE_BYTES)
      throw createConfigError(`The file in ${FILE_VARIABLE} is larger than ${MAX_FILE_BYTES} bytes. Check its path.`);
    return buffer.toString('utf8', 0, length);
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    const reason = getErrorCode(error) ?? 'unknown error';
    throw createConfigError(
      `Cannot read the file "${path}" in ${FILE_VARIABLE} (${reason}). Check the path and its permissions.`,
    );
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A shorter token could be guessed. */
const MIN_CHARACTERS = 16;

function requireLength(value: string, name: string): string {
  if (value.length >= MIN_CHARACTERS) return value;
  throw createConfigError(`The token "${name}" is too short. Use at least ${MIN_CHARACTERS} random characters.`);
}

/** Parses the list. The messages do not repeat its content, which is secret. */
function readList(text: string, source: string): readonly TokenConfig[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw createConfigError(`${source} is not valid JSON. Write a list of { name, scopes, value }.`);
  }
  const checked = tokensSchema['~standard'].validate(value);
  if (checked instanceof Promise || checked.issues === undefined) return value as readonly TokenConfig[];
  const paths = checked.issues.map(({ path = [] }) => path.map(String).join('.') || 'the top level');
  throw createConfigError(`${source} is invalid at ${paths.join(', ')}. Write a list of { name, scopes, value }.`);
}

function createConfigError(message: string): SluiceError {
  return new SluiceError('INVALID_CONFIG', message);
}
