/**
 * The suite of the real programs: `npm run real [-- ENGINE… | --all]`. Installs them, drives each through our launchers against
 * a scripted model on loopback, and ends with the totals. What was not run is said, with the reason, right before.
 */
import { delimiter } from 'node:path';
import { startVitest } from 'vitest/node';
import { PROJECT } from '../../scripts/run-tool.js';
import { countTests, hasPassed, renderTotals, type Totals } from '../../scripts/test-totals.js';
import { examineEngines } from '../../src/runs/launch/examine-engines.js';
import { installPrograms, PROGRAMS_FOLDER } from './install-programs.js';
import { REAL_ENGINES } from './real-engine.js';

/** Slow ones first, so that they do not end alone. */
const ORDER = ['opencode', 'qwen', 'copilot', 'gemini', 'claude', 'codex', 'iflow', 'acp'];

/** Their turns wait for addresses that cannot be reached here, minutes each: only where they are asked for. */
const SLOW = ['acp'];

const words = process.argv.slice(2);
const asked = words.includes('--all') ? ORDER : words;
const notRun: string[] = [];

const started = Date.now();
const installation = await installPrograms();
say(`install: ${installation.done ? 'done' : 'failed'} after ${secondsSince(started)} s`);
for (const problem of installation.problems) say(problem);

process.env['PATH'] = [PROGRAMS_FOLDER, process.env['PATH']].join(delimiter);
const reports = await examineEngines({ env: process.env, cwd: PROJECT, timeoutMs: 60_000 });
const engines: string[] = ORDER.filter((engine) => {
  if (asked.length === 0 ? SLOW.includes(engine) : !asked.includes(engine)) {
    notRun.push(`${engine}: not asked for`);
    return false;
  }
  if (!Object.hasOwn(REAL_ENGINES, engine)) return true;
  if (!installation.done) {
    notRun.push(`${engine}: the programs could not be installed`);
    return false;
  }
  const report = reports.find((each) => each.engine === engine);
  if (report?.version !== undefined) return true;
  notRun.push(`${engine}: ${report?.status ?? 'unknown'}; ${report?.next ?? ''}`);
  return false;
});
for (const name of asked) if (!ORDER.includes(name)) notRun.push(`${name}: there is no such engine`);

const totals = await runTests(engines);
say(`tests: done after ${secondsSince(started)} s`);
say('iflow is no longer published: a replayer played recordings in its place');
for (const reason of notRun) say(`not run: ${reason}`);
process.exitCode = hasPassed(totals) ? 0 : 1;
say(renderTotals(totals));

async function runTests(names: readonly string[]): Promise<Totals> {
  if (names.length === 0) return { passed: 0, failed: 1, skipped: 0 };
  const filters = names.map((name) => `test/real/${name}.real.ts`);
  const options = { config: 'test/real/vitest.config.ts', root: PROJECT, update: 'none', allowOnly: false } as const;
  const vitest = await startVitest('test', filters, { ...options, watch: false });
  const counted = countTests(vitest.state.getTestModules(), vitest.state.getUnhandledErrors().length);
  await vitest.close();
  return counted;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function secondsSince(start: number): number {
  return Math.round((Date.now() - start) / 1000);
}
