import { setImmediate as turn } from 'node:timers/promises';
import { endMarkedProcesses } from './end-orphans.js';
import { findMarkedProcesses } from './marked-processes.js';

/** Runs that wait for the next look at all processes. */
let waiting = new Set<string>();
let look: Promise<ReadonlySet<string>> | null = null;

/**
 * Ends what a run has started and what left its process group, once its own process is gone. Looking through all
 * processes costs milliseconds, so runs that end at the same time share a look. Linux only.
 */
export async function endEscaped(runDir: string): Promise<void> {
  if (process.platform !== 'linux') return;
  waiting.add(runDir);
  look ??= lookForAll();
  const found = await look;
  if (found.has(runDir)) await endMarkedProcesses(new Set([runDir]));
}

async function lookForAll(): Promise<ReadonlySet<string>> {
  await turn();
  const runDirs = waiting;
  waiting = new Set();
  look = null;
  return new Set(findMarkedProcesses(runDirs).map(({ runDir }) => runDir));
}
