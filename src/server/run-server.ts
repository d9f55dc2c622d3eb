import type { Worker } from '../dispatch/index.js';
import { CONSOLE_FOLDER } from './console/read-console.js';
import type { ServerOptions, SluiceServer } from './create-server.js';
import { createServer, DEFAULT_HOST } from './create-server.js';
import { listen } from './listen.js';
import type { Listening } from './listen.js';

/** A server at work. */
export interface RunningServer {
  readonly url: string;
  readonly server: SluiceServer;
  /**
   * Ends it in order: takes no new work, lets the worker finish (after `graceMs` what is left is stopped: such orders go
   * to a person, such runs end as canceled), closes streams and connections. Until then what there is can be read.
   */
  readonly stop: (options?: { readonly graceMs?: number }) => Promise<void>;
}

/** What {@link runServer} takes beside what a server is made of; the console is the one of the package by default. */
export interface RunServerOptions extends ServerOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Works in this process, if it is to. */
  readonly worker?: Pick<Worker, 'stop'>;
}

/**
 * Opens a server to the world.
 *
 * @example
 * const running = await runServer({ store, lead, data: '.sluice', port: 7171 })
 * process.once('SIGTERM', () => void running.stop({ graceMs: 30_000 }))
 */
export async function runServer(options: RunServerOptions): Promise<RunningServer> {
  const { host = DEFAULT_HOST, port, worker } = options;
  const server = createServer({ web: CONSOLE_FOLDER, worksHere: worker !== undefined, ...options });
  const listening: Listening = await listen(server, { host, port });
  return {
    url: listening.url,
    server,
    async stop(how) {
      server.drain();
      await worker?.stop(how);
      server.end();
      await listening.close();
    },
  };
}
