import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { extrapolate } from './extrapolate.js';
import type { PartResult } from './part-result.js';
import { openSimulationSite } from './simulation-site.js';

const WORKERS = Number(process.env['BENCH_WORKERS'] ?? 1000);
/** Orders, and workers that hold a run at the same time. What one costs hardly depends on their number, and a busy host needs minutes. */
const ORDERS = Math.min(WORKERS, Number(process.env['BENCH_ORDERS'] ?? 250));
const IDLE_S = 30;
/** Orders that are submitted one after another, while all workers are idle. */
const SINGLE_ORDERS = 60;
/** Five times the average of ten million per month. */
const ORDERS_PER_SECOND = 20;
const HELD_S = 30;
/** How often a simulated agent prints something; a real one takes longer. */
const STEP_MS = 6000;
/** The lines that an agent prints at once: messages, a tool call and its output. */
const STEP_LINES = 4;
const LINE_LENGTH = 500;
const CONNECTION_LIMIT = 100;
const MAX_RENEWAL_WAL = 200;

/**
 * Simulates a fleet: a thousand workers over HTTPS, each with its own connections, and one real server with PostgreSQL and
 * an archive. Only the agents are simulated. Measures what an idle worker, an order, a renewal and a step of an agent cost,
 * each in a separate phase, and extrapolates a month.
 */
export async function runSimulation(): Promise<PartResult> {
  const text = await readText();
  const site = await openSimulationSite();
  const agents = { areHeld: false, arePrinting: false };
  let steps = 0;
  try {
    await site.startWorkers(WORKERS, async (print) => {
      let printed = Math.floor(Math.random() * text.length);
      const step = async (): Promise<void> => {
        const lines = Array.from({ length: STEP_LINES }, (_, index) => text[(printed + index) % text.length] ?? '');
        printed += STEP_LINES;
        await print(lines);
      };
      await step();
      for (; agents.areHeld; await sleep(STEP_MS)) {
        if (!agents.arePrinting) continue;
        steps += 1;
        await step();
      }
    });
    console.error(`  ${WORKERS} workers connected`);
    await sleep(5000);
    const idle = await site.measure('idle workers', async () => sleep(IDLE_S * 1000));

    for (let number = 0; number < SINGLE_ORDERS; number += 1) {
      await site.submit(`single-${number}`);
      await sleep(50);
    }
    await site.waitUntilStored();
    const orders = await site.measure('orders', async () => {
      const submissions: Promise<void>[] = [];
      for (let number = 0; number < ORDERS; number += 1) {
        submissions.push(site.submit(`busy-${number}`));
        await sleep(1000 / ORDERS_PER_SECOND);
      }
      await Promise.all(submissions);
      await site.waitUntilStored();
    });

    agents.areHeld = true;
    for (let number = 0; number < ORDERS; number += 1) await site.submit(`held-${number}`);
    await site.waitUntilStarted('held', ORDERS);
    await sleep(STEP_MS);
    const renewals = await site.measure('renewals', async () => sleep(HELD_S * 1000));
    agents.arePrinting = true;
    const printing = await site.measure('steps', async () => {
      await sleep(HELD_S * 1000);
      agents.arePrinting = false;
      // The bytes are copied a moment later.
      await sleep(STEP_MS);
    });
    const memory = await site.readMemory();
    const ends = await site.measure('ends', async () => {
      agents.areHeld = false;
      await site.waitUntilStored();
    });
    const lost = await site.countLost(SINGLE_ORDERS + 2 * ORDERS);

    const { tables, renewalWalBytes } = extrapolate({
      workers: WORKERS,
      orders: ORDERS,
      ordersPerSecond: ORDERS_PER_SECOND,
      steps,
      stepLines: STEP_LINES,
      stepBytes: STEP_LINES * (LINE_LENGTH + 1),
      phases: { idle, orders, renewals, printing, ends },
      starts: { single: await site.readStarts('single'), busy: await site.readStarts('busy') },
      connections: site.connections,
      lost,
      memory,
    });

    return {
      title: 'A simulated fleet',
      targets: [
        {
          what: `connections to PostgreSQL with ${WORKERS.toLocaleString('en-US')} workers over HTTPS`,
          limit: `≤ ${CONNECTION_LIMIT}`,
          measured: String(site.connections),
          met: site.connections <= CONNECTION_LIMIT,
        },
        {
          what: 'WAL of a renewal of a claim, between checkpoints and vacuums',
          limit: `≤ ${MAX_RENEWAL_WAL} B`,
          measured: `${Math.round(renewalWalBytes)} B`,
          met: renewalWalBytes <= MAX_RENEWAL_WAL,
        },
      ],
      tables,
      groups: [],
    };
  } finally {
    agents.areHeld = false;
    await site.close();
  }
}

/** Returns lines of ordinary text, which is compressed as much as an agent's. */
async function readText(): Promise<readonly string[]> {
  const page = await readFile(new URL('../docs/errors.md', import.meta.url), 'utf8');
  const words = page.replaceAll(/\s+/g, ' ');
  return Array.from({ length: Math.floor(words.length / LINE_LENGTH) }, (_, index) =>
    words.slice(index * LINE_LENGTH, (index + 1) * LINE_LENGTH),
  );
}
