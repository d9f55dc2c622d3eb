import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { replayRunFolder } from '../../src/runs/run-folder/index.js';
import type { ScenarioRun, Stage } from './stage.js';

/** Asserts the invariants of every run: numbers without gaps, one end, no remaining processes, and an identical replay. */
export async function expectSound({ fcmp, result }: ScenarioRun, { runDir }: Stage): Promise<void> {
  expect(fcmp.map(({ seq }) => seq)).toEqual(fcmp.map((_, index) => index + 1));
  const ends = fcmp.filter(({ type }) => type === 'conversation.completed' || type === 'conversation.failed');
  expect(ends).toHaveLength(1);
  expect(result.error === undefined).toBe(result.status === 'success');
  expect(listRunningProcesses(runDir)).toEqual([]);
  expect(await replayRunFolder(runDir)).toMatchObject({ status: 'same' });
}

/** Lists the commands of running processes that a run started; empty on systems other than Linux. */
function listRunningProcesses(runDir: string): string[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/u.test(name));
  return pids.flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`SLUICE_RUN_DIR=${runDir}`)) return [];
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
    } catch {
      // It has exited meanwhile, or belongs to another user.
      return [];
    }
  });
}
