import { unwatchFile, watchFile } from 'node:fs';
import { findLocalTokenFile, findTokensFile, readLocalToken } from '../server/config/index.js';
import type { Config } from '../server/config/index.js';
import { getErrorMessage } from '../base/index.js';
import type { Logger } from '../base/index.js';
import { readTokenSettings } from '../server/index.js';
import type { TokenSettings } from '../server/index.js';

/** How often the files are checked. */
const POLL_MS = 1000;

interface TokenSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reloads the configuration. */
  readonly load: () => Promise<Pick<Config, 'tokens'>>;
  /** Whether the server accepts this user's token while no tokens are configured. */
  readonly isLocal: boolean;
  readonly replace: (settings: TokenSettings) => void;
  readonly logger: Logger;
}

interface TokenWatch extends TokenSource {
  readonly config: Pick<Config, 'file'>;
}

/**
 * Watches the token files, so a server accepts new tokens without a restart. A file that cannot be read, or that is no
 * longer trusted, changes nothing. Returns a function that stops watching.
 */
export function watchTokens({ config, ...source }: TokenWatch): () => void {
  const { env, isLocal } = source;
  const candidates = [config.file, findTokensFile(env), isLocal ? findLocalTokenFile(env) : null];
  const files = candidates.filter((file) => file !== null && file !== undefined);
  const reload = createTokenReload(source);
  const listener = (): void => void reload();
  for (const file of files) watchFile(file, { interval: POLL_MS, persistent: false }, listener);
  return () => {
    for (const file of files) unwatchFile(file, listener);
  };
}

/** Creates a function that reloads the tokens. Reloads run one after another, so the last one takes effect. */
export function createTokenReload({ env, load, isLocal, replace, logger }: TokenSource): () => Promise<void> {
  const reload = async (): Promise<void> => {
    try {
      const localToken = isLocal ? await readLocalToken(env) : undefined;
      const settings = readTokenSettings(await load(), { env, localToken });
      // Without tokens, the server would admit everyone.
      if (settings.tokens.length === 0) throw new Error('no tokens are configured anymore');
      replace(settings);
      logger.info('tokens reloaded', { tokens: settings.tokens.map(({ name }) => name) });
    } catch (error) {
      logger.warn('cannot reload the tokens; the old tokens stay valid', { error: getErrorMessage(error) });
    }
  };
  let last = Promise.resolve();
  return async () => (last = last.then(reload));
}
