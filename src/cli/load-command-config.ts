import { loadConfig } from '../server/config/index.js';
import type { Config, UntrustedConfig } from '../server/config/index.js';
import type { CommandIo } from './command-io.js';
import { makeVisible } from './terminal-text.js';

/** The options that select the configuration. */
interface ConfigFlags {
  readonly data?: string;
  readonly database?: string;
  readonly config?: string;
}

/**
 * Loads a command's configuration. At a terminal, the user is asked whether to trust an untrusted file; otherwise the
 * command fails with `CONFIG_NOT_TRUSTED`.
 */
export async function loadCommandConfig({ data, database, config }: ConfigFlags, io: CommandIo): Promise<Config> {
  const { ask } = io;
  const confirmTrust =
    ask === undefined ? undefined : async (untrusted: UntrustedConfig) => confirmAtTerminal(untrusted, ask);
  return loadConfig({ cwd: process.cwd(), env: process.env, flags: { data, database, config }, confirmTrust });
}

async function confirmAtTerminal(
  { file, state, needs }: UntrustedConfig,
  ask: NonNullable<CommandIo['ask']>,
): Promise<boolean> {
  const risk = needs.includes('code') ? 'It is code that every command would execute.' : `It sets ${needs.join(', ')}.`;
  const problem = state === 'changed' ? 'has changed since you trusted it' : 'is not trusted yet';
  const answer = await ask(makeVisible(`The configuration "${file}" ${problem}. ${risk} Trust it? [y/N] `));
  return /^y(?:es)?$/i.test(answer.trim());
}
