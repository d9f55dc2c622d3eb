import { loadConfig } from '../config/index.js';
import type { Config, UntrustedConfig } from '../config/index.js';
import type { CommandIo } from './command-io.js';
import { visibleText } from './terminal-text.js';

/** The options that choose the configuration. */
interface ConfigFlags {
  readonly data?: string;
  readonly database?: string;
  readonly config?: string;
}

/**
 * The configuration of a command in the current folder. At a terminal the person is asked about a file that is not trusted
 * yet; elsewhere the command ends with `CONFIG_NOT_TRUSTED`.
 */
export async function loadCommandConfig({ data, database, config }: ConfigFlags, io: CommandIo): Promise<Config> {
  const { ask } = io;
  const confirmTrust = ask === undefined ? undefined : async (found: UntrustedConfig) => isTrusted(found, ask);
  return loadConfig({ cwd: process.cwd(), env: process.env, flags: { data, database, config }, confirmTrust });
}

async function isTrusted(
  { file, state, needs }: UntrustedConfig,
  ask: NonNullable<CommandIo['ask']>,
): Promise<boolean> {
  const what = needs.includes('code') ? 'It is code, which every command executes.' : `It sets ${needs.join(', ')}.`;
  const since = state === 'changed' ? 'has changed since you trusted it' : 'is not trusted yet';
  const answer = await ask(visibleText(`The configuration "${file}" ${since}. ${what} Trust it? [y/N] `));
  return /^y(?:es)?$/i.test(answer.trim());
}
