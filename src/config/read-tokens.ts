import { SluiceError } from '../base/index.js';
import { fromJsonSchema } from '../json-schema/index.js';
import { configFileSchema } from './config.js';
import type { Config, TokenConfig } from './config.js';

/** A named key to the server. The name is who decided. */
export interface Token {
  readonly name: string;
  readonly scopes: TokenConfig['scopes'];
  readonly value: string;
}

const tokensSchema = fromJsonSchema<readonly TokenConfig[]>(configFileSchema.properties.tokens);

/**
 * The tokens of the environment (`SLUICE_TOKENS`, a JSON list) before those of the configuration.
 *
 * @example
 * readTokens({}, { SLUICE_TOKENS: '[{"name":"ada","scopes":["read","decide"],"value":"…"}]' })
 */
export function readTokens(
  config: Pick<Config, 'tokens'>,
  env: Readonly<Record<string, string | undefined>>,
): readonly Token[] {
  const listedInEnv = env['SLUICE_TOKENS'];
  const listed = listedInEnv === undefined || listedInEnv.trim() === '' ? (config.tokens ?? []) : readList(listedInEnv);
  const tokens = listed.map(({ name, scopes, value, value_env }) => {
    const found = value_env === undefined ? value : env[value_env];
    if (found !== undefined && found !== '') return { name, scopes, value: requireLength(found, name) };
    throw invalid(
      value_env === undefined
        ? `The token "${name}" has no value. Set value_env to the name of the variable that holds it, or set value.`
        : `The environment variable ${value_env} is not set; it holds the token "${name}". Set it.`,
    );
  });
  const double = tokens.find(({ name }, index) => tokens.findIndex((token) => token.name === name) !== index);
  if (double === undefined) return tokens;
  throw invalid(`Two tokens are named "${double.name}". Rename one: the name records who made a decision.`);
}

/** A shorter one could be guessed. */
const LEAST_CHARACTERS = 16;

function requireLength(value: string, name: string): string {
  if (value.length >= LEAST_CHARACTERS) return value;
  throw invalid(`The token "${name}" is too short. Use at least ${LEAST_CHARACTERS} random characters.`);
}

/** The message does not repeat what the variable holds. */
function readList(text: string): readonly TokenConfig[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('SLUICE_TOKENS is not valid JSON. Write a list of { name, scopes, value }.');
  }
  const checked = tokensSchema['~standard'].validate(value);
  if (checked instanceof Promise || checked.issues === undefined) return value as readonly TokenConfig[];
  const places = checked.issues.map(({ path = [] }) => path.map(String).join('.') || 'the whole value');
  throw invalid(`SLUICE_TOKENS is invalid at ${places.join(', ')}. Write a list of { name, scopes, value }.`);
}

function invalid(message: string): SluiceError {
  return new SluiceError('INVALID_CONFIG', message);
}
