import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createWaker } from '../../src/orders/dispatch/index.js';
import type { RemotePorts } from '../../src/server/worker/index.js';
import { createRunResult, sampleFcmp } from '../../src/store/contract/fixtures/run-samples.js';
import type { ClaimedRun } from '../../src/store/ports/index.js';

/** A worker without processes, which uses a server like a real one. */
export interface VirtualWorker {
  stop(): Promise<void>;
}

/** The behaviour of a virtual worker's agents. */
export interface VirtualAgent {
  /** How long an agent runs. */
  readonly agentMs: () => number;
  readonly events: number;
  readonly outputBytes: number;
  readonly onEnd?: (runId: string) => void;
}

interface VirtualOptions extends VirtualAgent {
  /** The worker's id. */
  readonly id: string;
  /** The data folder that the ports were opened with. */
  readonly data: string;
}

/** Starts a worker that claims one run at a time, and publishes events and bytes as if an agent had printed them. */
export function startVirtualWorker(
  { store, settings: { leaseMs } }: Pick<RemotePorts, 'store' | 'settings'>,
  { id, data, agentMs, events, outputBytes, onEnd }: VirtualOptions,
): VirtualWorker {
  const stopping = new AbortController();
  const waker = createWaker();
  const stopWatching = store.watchQueue(waker.wake, { worker: id });
  const report = async (): Promise<unknown> =>
    store
      .reportWorker({
        id,
        host: 'virtual',
        version: '0',
        engines: [],
        capacity: 1,
        busy: 0,
        isStopping: stopping.signal.aborted,
        now: 0,
        aliveUntil: 0,
      })
      .catch(() => undefined);
  // Workers that were started together do not report together.
  const reports = setInterval(() => void report(), leaseMs * (0.75 + Math.random() / 2));

  async function execute({ record: { id: runId } }: ClaimedRun, workerId: string): Promise<void> {
    const hold = { id: runId, workerId, now: 0 };
    const stop = store.watchRequests(runId, () => undefined);
    const renewals = setInterval(() => void store.renewRun({ ...hold, leaseMs }).catch(() => undefined), leaseMs / 3);
    try {
      if ((await store.markStarted(hold)) !== 'started') return;
      await sleep(agentMs() / 2);
      await store.append(
        runId,
        Array.from({ length: events }, (_, index) => sampleFcmp(index + 1)),
      );
      const folder = join(data, 'runs', runId, '.audit');
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'stdout.1.log'), 'x'.repeat(outputBytes));
      await sleep(agentMs() / 2);
      await store.endRun({ ...hold, result: createRunResult() });
      onEnd?.(runId);
    } finally {
      clearInterval(renewals);
      stop();
    }
  }

  async function work(): Promise<void> {
    await report();
    for (let count = 1; !stopping.signal.aborted; count += 1) {
      const worker = { worker_id: `${id}/${count}`, host: 'virtual', pid: 1, pid_started: null };
      try {
        const claimed = await store.claimRun({ worker, leaseMs, now: 0, watcher: id, isLast: true });
        if (claimed === undefined) await waker.sleep(leaseMs);
        else await execute(claimed, worker.worker_id);
      } catch (error) {
        process.stderr.write(`${id}: ${String(error)}\n`);
        await sleep(200);
      }
    }
  }
  const working = work();
  return {
    async stop() {
      stopping.abort();
      clearInterval(reports);
      stopWatching();
      waker.wake();
      await working;
      await store.removeWorker(id).catch(() => undefined);
    },
  };
}
