import type { LogPosition } from '../../events/index.js';
import { SluiceError } from '../../base/index.js';
import type { Logger } from '../../base/index.js';
import type { RunRecord } from '../../records/index.js';
import type { Store } from '../../store/index.js';
import type { Reader } from './broadcast.js';
import { createBroadcasts } from './broadcasts.js';
import { follow } from './follow.js';
import type { FollowOptions } from './follow.js';
import { forgottenText } from './forgotten-text.js';
import type { Outlet } from './outlet.js';
import { endText, HEARTBEAT, RETRY } from './sse-text.js';
import { logOf, preceding, wordOf } from './stream-protocol.js';
import type { StreamProtocol } from './stream-protocol.js';
import { createTelling } from './telling.js';
import type { SharedPassages } from './telling.js';

/** Who wants to read what. The run was looked up before: what it says is older than the events read here. */
export interface StreamRequest {
  readonly run: RunRecord;
  readonly protocol: StreamProtocol;
  readonly after: LogPosition;
}

/** Begins to send, until the run ends or the reader is gone. */
export type StartStream = (outlet: Outlet) => void;

/** All streams of a server. */
export interface StreamHub {
  /**
   * Looks whether there is, or may come, anything to send; undefined if the reader has everything. Throws
   * `INVALID_POSITION` for a position that the run has not reached.
   */
  prepare(request: StreamRequest): Promise<StartStream | undefined>;
}

/** What a hub works with. */
export interface StreamHubOptions {
  readonly store: Pick<Store, 'read' | 'watch' | 'findRun'>;
  readonly logger: Logger;
  /** Aborted when the server ends. */
  readonly ending: AbortSignal;
}

/** Shorter than the patience of proxies. */
const HEARTBEAT_MS = 15_000;

/** Makes the hub of a server. */
export function createStreamHub({ store, logger, ending }: StreamHubOptions): StreamHub {
  const broadcasts = createBroadcasts(store, logger);
  const shared: SharedPassages = new Map();
  const readers = new Set<Reader>();
  let heartbeat: NodeJS.Timeout | undefined;

  ending.addEventListener('abort', () => {
    for (const { outlet } of readers) outlet.end();
  });

  function beat(): void {
    for (const { outlet } of readers) if (outlet.unsent === 0) outlet.write(HEARTBEAT);
  }

  function add(reader: Reader): void {
    readers.add(reader);
    heartbeat ??= setInterval(beat, HEARTBEAT_MS).unref();
    reader.outlet.onClose(() => {
      readers.delete(reader);
      reader.leave?.();
      if (readers.size > 0) return;
      clearInterval(heartbeat);
      heartbeat = undefined;
    });
  }

  function start(outlet: Outlet, position: LogPosition, options: Omit<FollowOptions, keyof typeof help>): void {
    const reader: Reader = { outlet, position };
    add(reader);
    outlet.write(RETRY);
    follow(reader, { ...help, ...options }).catch((error: unknown) => {
      // It comes again and is told then what is wrong.
      logger.warn('a stream of events broke', { run_id: options.runId, error });
      outlet.destroy();
    });
  }

  const help = { log: store, broadcasts, shared };

  async function isReached({ run, protocol, after }: StreamRequest): Promise<boolean> {
    if (after.seq === 0 && after.attempt <= 1) return true;
    const range = { after: wordOf(protocol, preceding(after)), to: wordOf(protocol, after) };
    return (await store.read({ runId: run.id, protocol: logOf(protocol), ...range, limit: 1 })).length > 0;
  }

  return {
    async prepare(request) {
      const { run, protocol, after } = request;
      const runId = run.id;
      if (broadcasts.find(runId, protocol)?.covers(after) === true) {
        return (outlet) => start(outlet, after, { runId, protocol });
      }
      const telling = createTelling({ log: store, runId, protocol, after }, shared);
      const passage = await telling.next();
      if (passage === undefined && run.state === 'ended') {
        const hadEvents = after.seq > 0 || (run.result?.attempts ?? 0) > 0;
        const gap = hadEvents ? await forgottenText(store, { runId, protocol, after }) : '';
        const rest = gap + (await telling.finish());
        if (rest === '') return undefined;
        return (outlet) => {
          outlet.write(Buffer.from(rest + endText(protocol, run.result?.status ?? null)));
          outlet.end();
        };
      }
      if (passage === undefined && !(await isReached(request))) {
        throw new SluiceError(
          'INVALID_POSITION',
          `The run has no event ${wordOf(protocol, after)} yet. Leave the position out to begin with the first.`,
        );
      }
      return (outlet) => start(outlet, after, { runId, protocol, telling, passage });
    },
  };
}
