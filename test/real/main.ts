/**
 * The suite of the real programs: `npm run real [-- ENGINE… | --all]`. Installs them, drives each through our launchers
 * against a scripted model on loopback, and ends with the totals. Skipped programs are listed, with the reason, right
 * before.
 */
import { delimiter } from 'node:path';
import { startVitest } from 'vitest/node';
import { PROJECT } from '../../scripts/run-tool.js';
import { countTests, hasPassed, renderTotals, type Totals } from '../../scripts/test-totals.js';
import { examineEngines } from '../../src/runs/launch/examine-engines.js';
import { ACP_AGENTS } from './acp-agents.js';
import {
  ACP_FOLDER,
  ACP_PROGRAMS_FOLDER,
  COPILOT_CACHE,
  installPrograms,
  PROGRAMS_FOLDER,
} from './install-programs.js';
import { REAL_ENGINES } from './real-engine.js';

/** Slow ones first, so that they do not end alone. */
const ORDER = ['opencode', 'qwen', 'copilot', 'gemini', 'claude', 'codex', 'iflow'];

/** The matrix of the Agent Client Protocol takes long and needs more programs: only where it is asked for. */
const MATRIX = Object.keys(ACP_AGENTS).map((engine) => `acp-${engine.replace(/-acp$/u, '')}`);

const words = process.argv.slice(2);
const asked = words.includes('--all')
  ? [...ORDER, ...MATRIX]
  : words.flatMap((word) => (word === 'acp' ? MATRIX : [word]));
const wantsMatrix = MATRIX.some((name) => asked.includes(name));
const notRun: string[] = [];

const started = Date.now();
const installation = await installPrograms();
say(`install: ${installation.done ? 'done' : 'failed'} after ${secondsSince(started)} s`);
for (const problem of installation.problems) say(problem);
const matrixInstallation = wantsMatrix ? await installPrograms(ACP_FOLDER) : undefined;
for (const problem of matrixInstallation?.problems ?? []) say(problem);

process.env['PATH'] = [PROGRAMS_FOLDER, ACP_PROGRAMS_FOLDER, process.env['PATH']].join(delimiter);
const env = { ...process.env, XDG_CACHE_HOME: COPILOT_CACHE };
const reports = await examineEngines({ env, cwd: PROJECT, timeoutMs: 60_000 });
const engines: string[] = [...MATRIX, ...ORDER].filter((name) => {
  const isMatrix = MATRIX.includes(name);
  if (asked.length === 0 ? isMatrix : !asked.includes(name)) {
    if (!isMatrix) notRun.push(`${name}: not asked for`);
    return false;
  }
  if (!isMatrix && !Object.hasOwn(REAL_ENGINES, name)) return true;
  if (!installation.done) {
    notRun.push(`${name}: the programs could not be installed`);
    return false;
  }
  const report = reports.find(({ engine }) => engine === (isMatrix ? `${name.slice('acp-'.length)}-acp` : name));
  if (isMatrix ? report?.path !== undefined : report?.version !== undefined) return true;
  notRun.push(`${name}: ${report?.status ?? 'unknown'}; ${report?.next ?? ''}`);
  return false;
});
if (!wantsMatrix) notRun.push('the agents of the Agent Client Protocol: not asked for (-- acp, or -- --all)');
for (const name of asked)
  if (name !== '--all' && ![...ORDER, ...MATRIX].includes(name)) notRun.push(`${name}: there is no such engine`);

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
