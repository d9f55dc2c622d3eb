import { closeSync, openSync, readSync } from 'node:fs';
import { SluiceError, getErrorCode } from '../base/index.js';
import { fromJsonSchema } from '../json-schema/index.js';
import { configFileSchema } from './config.js';
import type { Config, TokenConfig } from './config.js';

/** A named token for the server. Its name is recorded as the author of decisions. */
export interface Token {
  readonly name: string;
  readonly scopes: TokenConfig['scopes'];
  readonly value: string;
}

const tokensSchema = fromJsonSchema<readonly TokenConfig[]>(configFileSchema.properties.tokens);

/** The variable with the tokens, and the one that names a file with them, which can be replaced while the server runs. */
const LIST = 'SLUICE_TOKENS';
const FILE = 'SLUICE_TOKENS_FILE';

/**
 * The tokens of the environment before those of the configuration: a JSON list in `SLUICE_TOKENS`, or in the file that
 * `SLUICE_TOKENS_FILE` names.
 *
 * @example
 * readTokens({}, { SLUICE_TOKENS: '[{"name":"ada","scopes":["read","decide"],"value":"…"}]' })
 */
export function readTokens(
  config: Pick<Config, 'tokens'>,
  env: Readonly<Record<string, string | undefined>>,
): readonly Token[] {
  const listed = listFromEnvironment(env) ?? config.tokens ?? [];
  const tokens = listed.map(({ name, scopes, value, value_env }) => {
    const found = value_env === undefined ? value : env[value_env];
    if (found !== undefined && found !== '') return { name, scopes, value: requireLength(found, name) };
    throw invalid(
      value_env === undefined
        ? `The token "${name}" has no value. Set value_env to the name of the variable that holds it, or set value.`
        : `The environment variable ${value_env} is not set; it holds the token "${name}". Set it.`,
    );
  });
  const duplicate = tokens.find(({ name }, index) => tokens.findIndex((token) => token.name === name) !== index);
  if (duplicate === undefined) return tokens;
  throw invalid(`Two tokens are named "${duplicate.name}". Rename one: the name records who made a decision.`);
}

/** The file that has the tokens, if the environment names one. */
export function findTokensFile(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const path = env[FILE]?.trim() ?? '';
  return path === '' ? undefined : path;
}

function listFromEnvironment(env: Readonly<Record<string, string | undefined>>): readonly TokenConfig[] | undefined {
  const [file, list] = [findTokensFile(env), env[LIST]?.trim() ?? ''];
  if (file === undefined) return list === '' ? undefined : readList(list, LIST);
  if (list !== '') throw invalid(`${LIST} and ${FILE} are both set. Unset one of them.`);
  return readList(readTokensFile(file), `The file of ${FILE}`);
}

/** Thousands of tokens. */
const FILE_BYTES = 1024 * 1024;

/** Reads the file of tokens. Its path comes from the operator, so links are followed: container secrets are links. */
function readTokensFile(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const buffer = Buffer.alloc(FILE_BYTES + 1);
    const length = readSync(file, buffer, 0, buffer.length, 0);
    if (length > FILE_BYTES)
      throw invalid(`The file named by ${FILE} is larger than ${FILE_BYTES} bytes. Check its path.`);
    return buffer.toString('utf8', 0, length);
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    const why = getErrorCode(error) ?? 'unknown error';
    throw invalid(`Cannot read the file of ${FILE}, "${path}" (${why}). Check the path and its permissions.`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A shorter one could be guessed. */
const MIN_CHARACTERS = 16;

function requireLength(value: string, name: string): string {
  if (value.length >= MIN_CHARACTERS) return value;
  throw invalid(`The token "${name}" is too short. Use at least ${MIN_CHARACTERS} random characters.`);
}

/** The message does not repeat what the variable or the file holds. */
function readList(text: string, source: string): readonly TokenConfig[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(`${source} is not valid JSON. Write a list of { name, scopes, value }.`);
  }
  const checked = tokensSchema['~standard'].validate(value);
  if (checked instanceof Promise || checked.issues === undefined) return value as readonly TokenConfig[];
  const places = checked.issues.map(({ path = [] }) => path.map(String).join('.') || 'the whole value');
  throw invalid(`${source} is invalid at ${places.join(', ')}. Write a list of { name, scopes, value }.`);
}

function invalid(message: string): SluiceError {
  return new SluiceError('INVALID_CONFIG', message);
}
