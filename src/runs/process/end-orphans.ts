import { rm } from 'node:fs/promises';
import { findMarkedProcesses } from './marked-processes.js';
import type { MarkedProcess } from './marked-processes.js';
import { endGroup, isGoneWithin } from './process-group.js';
import { readProcessStat, stateOfProcess } from './process-identity.js';
import { readProcessRecords, sweepOld } from './read-process-records.js';

/** A process that had outlived the Sluice that started it. */
export interface EndedOrphan {
  readonly runDir: string;
  readonly pid: number;
}

const GRACE_MS = 2000;
const VANISH_MS = 5000;
/** What is being ended may still start others; nothing that keeps on doing so is waited for longer than this. */
const MOST_ROUNDS = 5;

/**
 * Ends what an earlier Sluice left running when it was killed: the groups it noted down, if their leader is still the
 * one noted (a number alone may be another's by now), and on Linux every process that carries the marker of such a run.
 * What a living Sluice has noted is left alone.
 *
 * @example
 * const ended = await endOrphans(join(data, 'processes'));
 */
export async function endOrphans(folder: string, { graceMs = GRACE_MS } = {}): Promise<EndedOrphan[]> {
  const ended = new Map<number, EndedOrphan>();
  const settled: string[] = [];
  const orphanedRuns = new Set<string>();
  const livingRuns = new Set<string>();
  const leaders: number[] = [];
  for (const record of await readProcessRecords(folder)) {
    const owner = await stateOfProcess(record.owner);
    if (owner === 'alive') {
      livingRuns.add(record.runDir);
      continue;
    }
    if (owner === 'unknown') {
      await sweepOld(record.path);
      continue;
    }
    settled.push(record.path);
    orphanedRuns.add(record.runDir);
    const { process: leader } = record;
    if (leader?.started === null || leader === undefined || (await stateOfProcess(leader)) !== 'alive') continue;
    ended.set(leader.pid, { runDir: record.runDir, pid: leader.pid });
    leaders.push(leader.pid);
  }
  // A run that was taken up again belongs to the Sluice that did so.
  for (const runDir of livingRuns) orphanedRuns.delete(runDir);
  const marked = endMarkedProcesses(orphanedRuns, graceMs);
  const outcomes = await Promise.allSettled([marked, ...leaders.map(async (pid) => endGroup(pid, graceMs))]);
  for (const { pid, runDir } of await marked) ended.set(pid, { runDir, pid });
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  await Promise.all(settled.map(async (path) => rm(path, { force: true })));
  return [...ended.values()];
}

/**
 * Ends every process that carries the marker of one of these runs, also those that left their group. Linux only;
 * elsewhere it finds none.
 */
export async function endMarkedProcesses(runDirs: ReadonlySet<string>, graceMs = GRACE_MS): Promise<EndedOrphan[]> {
  const ended = new Map<number, EndedOrphan>();
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const found = findMarkedProcesses(runDirs);
    if (found.length === 0) break;
    for (const { pid, runDir } of found) ended.set(pid, { pid, runDir });
    signal(found, 'SIGTERM');
    if (await isGoneWithin(() => !found.some(isStillThere), graceMs)) continue;
    signal(found, 'SIGKILL');
    await isGoneWithin(() => !found.some(isStillThere), VANISH_MS);
  }
  return [...ended.values()];
}

function signal(processes: readonly MarkedProcess[], name: NodeJS.Signals): void {
  for (const found of processes.filter(isStillThere)) {
    try {
      process.kill(found.pid, name);
    } catch {
      // It went by itself.
    }
  }
}

function isStillThere({ pid, startTicks }: MarkedProcess): boolean {
  const stat = readProcessStat(pid);
  return stat !== undefined && !stat.isZombie && stat.startTicks === startTicks;
}
