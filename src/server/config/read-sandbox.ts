import { omitUndefined } from '../../base/index.js';
import { findUserFolder } from '../../base/files/index.js';
import type { SandboxPort } from '../../runs/index.js';
import { findDatabaseFile } from './config.js';
import type { Config } from './config.js';
import { findTokensFile } from './read-tokens.js';

/**
 * Reads the sandbox settings of a process that starts agents, with the files that no sandbox shows: databases, tokens
 * and the configuration.
 *
 * @example
 * readSandbox(config, process.env).hidden // ['/home/ada/.local/share/sluice', '/srv/sluice.db', …]
 */
export function readSandbox(
  { sandbox, database, tokens, file }: Pick<Config, 'sandbox' | 'database' | 'tokens' | 'file'>,
  env: Readonly<Record<string, string | undefined>>,
): SandboxPort {
  const databaseFile = findDatabaseFile(database);
  const tokensFile = findTokensFile(env);
  return {
    ...sandbox,
    hidden: [
      findUserFolder(env),
      ...(tokensFile === undefined ? [] : [tokensFile]),
      ...(databaseFile === undefined ? [] : ['', '-wal', '-shm'].map((ending) => databaseFile + ending)),
    ],
    ...omitUndefined({
      configuration:
        file === null ? undefined : { file, hasTokens: tokens?.some(({ value }) => value !== undefined) === true },
    }),
  };
}
