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
  const told = env['SLUICE_TOKENS'];
  const listed = told === undefined || told.trim() === '' ? (config.tokens ?? []) : readList(told);
  const tokens = listed.map(({ name, scopes, value, value_env }) => {
    const found = value_env === undefined ? value : env[value_env];
    if (found !== undefined && found !== '') return { name, scopes, value: found };
    throw invalid(
      value_env === undefined
        ? `The token ${name} needs value_env, the name of the variable that holds it, or a value.`
        : `The token ${name} needs the environment variable ${value_env}.`,
    );
  });
  const double = tokens.find(({ name }, index) => tokens.findIndex((token) => token.name === name) !== index);
  if (double === undefined) return tokens;
  throw invalid(`The token ${double.name} is there twice; who decided must be told apart.`);
}

/** What it holds is not repeated in the message. */
function readList(text: string): readonly TokenConfig[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('SLUICE_TOKENS is not JSON; it is a list of { name, scopes, value }.');
  }
  const checked = tokensSchema['~standard'].validate(value);
  if (checked instanceof Promise || checked.issues === undefined) return value as readonly TokenConfig[];
  const places = checked.issues.map(({ path = [] }) => path.map(String).join('.') || 'the whole');
  throw invalid(`SLUICE_TOKENS does not fit at ${places.join(', ')}; it is a list of { name, scopes, value }.`);
}

function invalid(message: string): SluiceError {
  return new SluiceError('INVALID_CONFIG', message);
}
