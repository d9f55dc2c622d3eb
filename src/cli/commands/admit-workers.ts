import { hostname } from 'node:os';
import { getErrorMessage } from '../../base/index.js';
import { readTokens, type Config } from '../../server/config/index.js';
import type { CommandContext } from '../command-context.js';
import { MisuseError } from '../failure.js';

/** Whether workers can connect to a server with this configuration. */
export function admitsWorkers(config: Pick<Config, 'tokens'>): boolean {
  return readTokens(config, process.env).some(({ scopes }) => scopes.includes('worker'));
}

/** The lease on the files that workers send, and how long it is valid without being renewed. */
const FILES_LEASE = { name: 'files of workers', ms: 30_000 };

/**
 * Without an archive, the files of workers over HTTPS are only in one data folder, so only servers that share it may
 * admit such workers. The owner of the lease is that folder: a server that restarts gets it back immediately.
 */
export async function admitRemoteWorkers({ config, store, logger }: CommandContext, hasArchive: boolean) {
  if (!admitsWorkers(config) || hasArchive) return { stop: async () => undefined };
  const owner = `${hostname()}:${config.data}`;
  const lease = async () => {
    const now = store.now();
    return store.leaseJobs({ names: [FILES_LEASE.name], owner, now, until: now + FILES_LEASE.ms });
  };
  if ((await lease()).length === 0) {
    throw new MisuseError(
      'Another server shares this database and admits workers over HTTPS. Configure an archive, so that every server can read their files, or remove the scope "worker" from the tokens of this server.',
    );
  }
  const renew = (): void =>
    void lease().catch((error: unknown) => logger.warn('cannot renew a lease', { error: getErrorMessage(error) }));
  const timer = setInterval(renew, FILES_LEASE.ms / 3).unref();
  return {
    async stop() {
      clearInterval(timer);
      await store.releaseJobs(owner).catch(() => undefined);
    },
  };
}
