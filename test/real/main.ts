/**
 * The real-agent suite: `npm run real [-- ENGINE… | --all]`. Installs them, drives each through our launchers against a
 * scripted model on loopback, and ends with the totals. Skipped agents are listed, with the reason, right before.
 */
import { delimiter } from 'node:path';
import { startVitest } from 'vitest/node';
import { PROJECT } from '../../scripts/run-tool.js';
import { countTests, hasPassed, renderTotals, type Totals } from '../../scripts/test-totals.js';
import { checkEngines } from '../../src/runs/launch/check-engines.js';
import {
  ACP_FOLDER,
  ACP_PROGRAMS_FOLDER,
  COPILOT_CACHE,
  installPrograms,
  PRESET_FOLDER,
  PROGRAMS_FOLDER,
} from './install-programs.js';
import { ACP_CASES, APPROVAL_CASES, ENGINE_CASES, FAULT_CASES, FIRST_RUN_CASES, PRESET_CASES } from './real-cases.js';

const words = process.argv.slice(2);
const allCases = [
  ...PRESET_CASES,
  ...FAULT_CASES,
  ...APPROVAL_CASES,
  ...FIRST_RUN_CASES,
  ...ACP_CASES,
  ...ENGINE_CASES,
];
const requested = words.includes('--all')
  ? allCases
  : words.flatMap((word) => (word === 'acp' ? ACP_CASES : word === 'faults' ? FAULT_CASES : [word]));
const wantsMatrix = ACP_CASES.some((name) => requested.includes(name));
const notRun: string[] = [];

const started = Date.now();
const installation = await installPrograms();
print(`install: ${installation.done ? 'done' : 'failed'} after ${secondsSince(started)} s`);
for (const problem of installation.problems) print(problem);
const matrixInstallation = wantsMatrix ? await installPrograms(ACP_FOLDER) : undefined;
for (const problem of matrixInstallation?.problems ?? []) print(problem);
const wantsPresets = PRESET_CASES.some((name) => requested.includes(name));
const presetInstallation = wantsPresets ? await installPrograms(PRESET_FOLDER) : undefined;
for (const problem of presetInstallation?.problems ?? []) print(problem);

process.env['PATH'] = [PROGRAMS_FOLDER, ACP_PROGRAMS_FOLDER, process.env['PATH']].join(delimiter);
const env = { ...process.env, XDG_CACHE_HOME: COPILOT_CACHE };
const reports = await checkEngines({ env, cwd: PROJECT, timeoutMs: 60_000 });
const find = (word: string) => reports.find(({ engine }) => engine === word);
const engines: string[] = allCases.filter((name) => {
  const isOnRequest = !ENGINE_CASES.includes(name);
  if (requested.length === 0 ? isOnRequest : !requested.includes(name)) {
    if (!isOnRequest) notRun.push(`${name}: not requested`);
    return false;
  }
  if (name === 'iflow') return true;
  if (PRESET_CASES.includes(name) && presetInstallation?.done === true) return true;
  if (!installation.done || PRESET_CASES.includes(name)) {
    notRun.push(`${name}: the agents could not be installed`);
    return false;
  }
  if ([...APPROVAL_CASES, ...FIRST_RUN_CASES].includes(name)) return true;
  const isMatrix = ACP_CASES.includes(name);
  const agent = isMatrix ? `${name.slice('acp-'.length)}-acp` : name.replace('faults-', '');
  // An ACP agent does not print its version; without a binary for this platform, its engine's executable does not start.
  const own = find(agent.replace(/-acp$/, ''));
  const isBroken = isMatrix && own?.path !== undefined && own.version === undefined;
  const report = isBroken ? own : find(agent);
  if (!isBroken && (isMatrix ? report?.path : report?.version) !== undefined) return true;
  notRun.push(`${name}: ${report?.status ?? 'unknown'}; ${report?.next ?? ''}`);
  return false;
});
if (!wantsMatrix) notRun.push('the agents of the Agent Client Protocol: not requested (-- acp, or -- --all)');
if (!wantsPresets) notRun.push('the presets: not requested (-- presets, or -- --all)');
if (!FAULT_CASES.some((name) => requested.includes(name)))
  notRun.push('the table of faults: not requested (-- faults, or -- --all)');
if (!APPROVAL_CASES.some((name) => requested.includes(name)))
  notRun.push('approvals: not requested (-- approvals, or -- --all)');
if (!FIRST_RUN_CASES.some((name) => requested.includes(name)))
  notRun.push('the first run of README: not requested (-- first-run, or -- --all)');
for (const name of requested) if (!allCases.includes(name)) notRun.push(`${name}: unknown engine`);

const totals = await runTests(engines);
print(`tests: done after ${secondsSince(started)} s`);
print('iflow is no longer published: its recordings were replayed instead');
for (const reason of notRun) print(`not run: ${reason}`);
process.exitCode = hasPassed(totals) ? 0 : 1;
print(renderTotals(totals));

async function runTests(names: readonly string[]): Promise<Totals> {
  if (names.length === 0) return { passed: 0, failed: 1, skipped: 0 };
  const filters = names.map((name) => `test/real/${name}.real.ts`);
  const options = { config: 'test/real/vitest.config.ts', root: PROJECT, update: 'none', allowOnly: false } as const;
  const vitest = await startVitest('test', filters, { ...options, watch: false });
  const counted = countTests(vitest.state.getTestModules(), vitest.state.getUnhandledErrors().length);
  await vitest.close();
  return counted;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function secondsSince(start: number): number {
  return Math.round((Date.now() - start) / 1000);
}
