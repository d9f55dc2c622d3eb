import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger } from '../../src/base/index.js';
import { createWaker } from '../../src/orders/dispatch/index.js';
import { retryStore } from '../../src/orders/dispatch/retry-store.js';
import type { RemotePorts } from '../../src/server/worker/index.js';
import { sampleResult } from '../../src/store/contract/fixtures/order-samples.js';
import { createRunResult, sampleFcmp, sampleRasp } from '../../src/store/contract/fixtures/run-samples.js';
import type { ClaimedRun } from '../../src/store/ports/index.js';

/** A worker without processes, which uses a server like a real one. */
export interface VirtualWorker {
  stop(): Promise<void>;
}

/** The behaviour of a virtual worker's agents. */
export interface VirtualAgent {
  /** Returns when the agent ends. `print` publishes lines: as recorded bytes, and as an event of each protocol. */
  readonly agent: (print: (lines: readonly string[]) => Promise<void>) => Promise<void>;
  readonly onEnd?: (runId: string) => void;
}

/** A busy server refuses requests; workers try again. */
const retry = async <T>(work: () => Promise<T>): Promise<T> => retryStore(work, { logger: silentLogger });

interface VirtualOptions extends VirtualAgent {
  /** The worker's id. */
  readonly id: string;
  /** The data folder that the ports were opened with. */
  readonly data: string;
}

/** Starts a worker that claims one run at a time, and publishes events and bytes as if an agent had printed them. */
export function startVirtualWorker(
  { store, lead, settings: { leaseMs } }: Pick<RemotePorts, 'store' | 'lead' | 'settings'>,
  { id, data, agent, onEnd }: VirtualOptions,
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

  async function execute({ record: { id: runId }, order }: ClaimedRun, workerId: string): Promise<void> {
    const hold = { id: runId, workerId, now: 0 };
    const stop = store.watchRequests(runId, () => undefined);
    const renewals = setInterval(() => void store.renewRun({ ...hold, leaseMs }).catch(() => undefined), leaseMs / 3);
    const folder = join(data, 'runs', runId, '.audit');
    let printed = 0;
    const print = async (lines: readonly string[]): Promise<void> => {
      const events = lines.flatMap((line, index) => {
        const seq = printed + index + 1;
        return [sampleRasp(1, seq, line), sampleFcmp(seq, line)];
      });
      printed += lines.length;
      await appendFile(join(folder, 'stdout.1.log'), lines.map((line) => `${line}\n`).join(''));
      await retry(async () => store.append(runId, events));
    };
    try {
      if ((await retry(async () => store.markStarted(hold))) !== 'started') return;
      await mkdir(folder, { recursive: true });
      await agent(print);
      const runResult = createRunResult();
      if (order === null) await retry(async () => store.endRun({ ...hold, result: runResult }));
      else {
        const { issue_ref: issueRef, run_id } = order.order;
        const reading = {
          source: 'json',
          path: 'work_result.json',
          problems: [],
          result: sampleResult(order),
        } as const;
        await retry(async () =>
          lead.settle({ issueRef, runId: run_id, exitCode: 0, hasEnded: true, runResult, reading }),
        );
      }
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
