import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { createUlidGenerator, getErrorMessage, omitUndefined, setLatest } from '../../../base/index.js';
import { makeFolder, removeFolder } from '../../../base/files/index.js';
import type { NamedCheck } from '../../proof/checks.js';
import { didPass, isInconclusive, type CheckOutcome, type CheckTry } from '../../proof/judge-checks.js';
import type { RunSpec } from '../../../store/records/index.js';
import { getRunFolderPath, readLastAttempt } from '../../../runs/run-folder/index.js';
import type { HeldClaim } from '../hold-claim.js';
import { retryStore } from '../retry-store.js';
import { runInProcess } from '../run-to-end.js';
import type { WorkContext } from '../worker-options.js';
import { checkOut, type CheckedOut } from '../../git/check-out.js';
import type { CheckBase } from '../../git/read-steering.js';
import type { RepositoryStart } from '../../git/repository.js';

/** The change that the checks of an order run on. */
export interface CheckedChange {
  readonly start: RepositoryStart;
  readonly commit: string;
  /** The run that carries the order. */
  readonly run: string;
  /** The files of a change that decide whether a check passes, as they were before it: all of them have to pass. */
  readonly findBases?: (check: NamedCheck) => readonly CheckBase[];
  /** The commit before a change that can lose tests. */
  readonly before?: string | undefined;
}

/** A check that takes longer is not run a second time, unless its configuration says so. */
const CHEAP_MS = 60_000;

const DEFAULT_TIMEOUT_S = 600;

/** Test runners print their counts at the end. */
const COUNTED_BYTES = 256 * 1024;

/** Returns the folder where an order's checks run; it is deleted afterwards. */
export function getCheckFolder(data: string, run: string): string {
  return join(data, 'checks', run);
}

/**
 * Runs checks in sequence, each in a clean checkout of the commit and with a clean environment. Each is a separate run
 * in the store, under the order's claim: it uses no slot and stops with the order.
 */
export async function runChecks(
  context: WorkContext,
  checks: readonly NamedCheck[],
  change: CheckedChange,
  claim: HeldClaim,
): Promise<readonly CheckOutcome[]> {
  const folder = getCheckFolder(context.runs.data, change.run);
  const outcomes: CheckOutcome[] = [];
  try {
    for (const check of checks) {
      const attempt = async (base?: CheckedOut['base']): Promise<readonly CheckTry[]> => {
        const tries: CheckTry[] = [];
        while (tries.length < (check.tries ?? 1)) {
          const latest = await tryCheck(context, check, { ...change, base, folder }, claim);
          tries.push(latest);
          if (!('result' in latest) || didPass(latest.result) || isInconclusive(latest.result)) break;
        }
        return tries;
      };
      const startedAt = context.clock();
      const tries = await attempt();
      const isAgain = havePassed(tries) && (check.base_checks ?? context.clock() - startedAt < CHEAP_MS);
      const before = isAgain
        ? await checkBefore(context, check, change, async (commit) =>
            tryCheck(context, check, { ...change, commit, base: undefined, folder }, claim),
          )
        : {};
      const bases: NonNullable<CheckOutcome['base']>[] = [];
      for (const base of isAgain ? (change.findBases?.(check) ?? []) : []) {
        if (base.isProduct !== true || (before.before !== undefined && havePassed([before.before])))
          bases.push({ tries: await attempt(base), files: [...base.restored, ...base.removed] });
      }
      // One that failed proves more than the others.
      const base = bases.find((each) => !havePassed(each.tries)) ?? bases[0];
      outcomes.push({ check, tries, ...omitUndefined({ base }), ...before });
    }
  } finally {
    await removeFolder(folder).catch((error: unknown) =>
      context.logger.warn('cannot remove the checks folder', { folder, error: getErrorMessage(error) }),
    );
  }
  return outcomes;
}

function havePassed(tries: readonly CheckTry[]): boolean {
  const last = tries.at(-1);
  return last !== undefined && 'result' in last && didPass(last.result);
}

/** Checks of commits before a change: many orders start from the same commit, and it has as many tests each time. */
const knownBefore = new Map<string, CheckTry>();
const MAX_KNOWN = 100;

/** Runs a check before a change, to compare how many tests there were; a check that was run there is not run again. */
async function checkBefore(
  context: WorkContext,
  check: NamedCheck,
  { start, before }: CheckedChange,
  attempt: (commit: string) => Promise<CheckTry>,
): Promise<Pick<CheckOutcome, 'before'>> {
  if (before === undefined) return {};
  const key = JSON.stringify([start.objects, before, check]);
  const known = knownBefore.get(key);
  const { run } = known ?? {};
  const isKnown =
    run !== undefined && (await retryStore(async () => context.store.findRun(run), context)) !== undefined;
  if (known !== undefined && isKnown) return { before: known };
  const latest = await attempt(before);
  if ('result' in latest && !isInconclusive(latest.result)) setLatest(knownBefore, MAX_KNOWN, key, latest);
  return { before: latest };
}

async function tryCheck(
  context: WorkContext,
  check: NamedCheck,
  change: CheckedChange & { readonly base: CheckedOut['base'] | undefined; readonly folder: string },
  claim: HeldClaim,
): Promise<CheckTry> {
  const { start, commit, base, folder, run } = change;
  if (claim.stop.aborted) return { problem: 'not run: the order was stopped' };
  const work = join(folder, 'work');
  const home = join(folder, 'home');
  try {
    await removeFolder(home);
    await makeFolder(home);
    const { error } = await checkOut(start, { commit, ...omitUndefined({ base }) }, work, context.lead.filters);
    if (error !== undefined) return { problem: `not run: ${error}` };
  } catch (error) {
    // The file system failed. A check that cannot run must not prevent the order from being settled.
    return { problem: `not run: ${getErrorMessage(error)}` };
  }
  const environment = createCleanEnvironment(context.runs.environment ?? process.env, home);
  const { sandbox: configured } = context.runs;
  // The checkout reads the history from the objects of the agent's repository.
  const commands = [...(check.prepare ?? []), ...check.command];
  const sandbox = { ...configured, internal: [start.objects], configured: commands, write: [], home };
  // The run stops with the order, and no agent could prepare its environment.
  const checkContext = { ...context, signal: claim.stop, runs: { ...context.runs, environment, sandbox } };
  const limit = check.timeout_s ?? DEFAULT_TIMEOUT_S;
  const createSpec = (command: readonly string[], network: 'none' | 'host'): RunSpec => ({
    engine: 'command',
    command,
    workdir: work,
    env: ['CI'],
    ...(check.sandbox === 'off' ? { sandbox: 'off' } : { ...omitUndefined({ sandbox: check.sandbox }), network }),
    limits: { time_s: limit, idle_s: limit },
  });
  if (check.prepare !== undefined) {
    const prepared = await runOnce(checkContext, createSpec(check.prepare, 'host'), run);
    if (!('result' in prepared)) return prepared;
    if (!didPass(prepared.result)) return { run: prepared.run, problem: 'not run: its preparation failed' };
  }
  const ran = await runOnce(checkContext, createSpec(check.command, check.network ?? 'none'), run);
  return 'result' in ran && ran.result.process === undefined
    ? { run: ran.run, problem: `could not be started: ${ran.result.error?.message ?? 'no process'}` }
    : ran;
}

async function runOnce(context: WorkContext, requested: RunSpec, checks: string): Promise<CheckTry> {
  const { store, clock, traceparent } = context;
  const spec = { ...requested, ...omitUndefined({ traceparent }) };
  const id = createUlidGenerator(clock)();
  await runInProcess(context, { id, spec, checks });
  const record = await retryStore(async () => store.findRun(id), context);
  if (record?.result === undefined || record.result === null)
    return { run: id, problem: 'not run: its result was lost' };
  const durationMs = Date.parse(record.ended_at ?? '') - Date.parse(record.started_at ?? '');
  const { data } = context.runs;
  const { stdout, stderr } = await readLastAttempt(getRunFolderPath(data, id), COUNTED_BYTES, { trustedRoot: data });
  const output = `${Buffer.from(stdout).toString()}\n${Buffer.from(stderr).toString()}`;
  return {
    run: id,
    result: record.result,
    durationMs: Number.isFinite(durationMs) ? durationMs : 0,
    passedTests: countTests(output),
    failedTests: listFailedTests(output),
  };
}

/** Returns the variables that every process needs, and none that an agent could influence through its home folder. */
function createCleanEnvironment(
  from: Readonly<Record<string, string | undefined>>,
  home: string,
): Readonly<Record<string, string | undefined>> {
  const { PATH, LANG, TZ, TMPDIR, SYSTEMROOT, COMSPEC, PATHEXT, WINDIR, TEMP, TMP } = from;
  const windows = { SYSTEMROOT, COMSPEC, PATHEXT, WINDIR, TEMP, TMP };
  return { PATH, LANG, TZ, TMPDIR, ...windows, HOME: home, USERPROFILE: home, CI: 'true' };
}

/** How a test runner reports passed tests on one line. Counts of several lines are added, as for several packages. */
const COUNTS: readonly RegExp[] = [
  // vitest: `Tests  1 failed | 10 passed (11)`; jest: `Tests:       3 passed, 3 total`
  /^\s*Tests:?\s[^]*?\b(\d+) passed\b/,
  // pytest: `=== 5 passed, 1 warning in 0.12s ===`
  /^(?:=+ )?(?:\d+ \w+, )*(\d+) passed\b[^]* in [\d.]+s/,
  // cargo: `test result: ok. 5 passed; 0 failed`
  /^test result: \w+\. (\d+) passed;/,
  // node:test: `# pass 12`, `ℹ pass 12`
  /^(?:#|ℹ) pass (\d+)$/,
  // mocha: `  12 passing (30ms)`
  /^\s*(\d+) passing\b/,
  // JUnit: `<testsuite name="a" tests="12">`
  /^\s*<testsuite\s[^>]*\btests="(\d+)"/,
];

/** Lines that stand for one passed test each: TAP's, and those of `go test -v`. */
const PASSED: readonly RegExp[] = [/^ok \d+(?!.*# (?:skip|todo))/i, /^\s*--- PASS: /];

/** How a test runner names a test that failed. */
const FAILED: readonly RegExp[] = [
  // TAP: `not ok 2 - adds up`
  /^\s*not ok \d+(?: -)? (?!.*# (?:skip|todo))(.+)/i,
  // pytest: `FAILED tests/test_a.py::test_b - assert …`; go: `--- FAIL: TestA (0.00s)`; cargo: `test a::b ... FAILED`
  /^FAILED (\S+)/,
  /^\s*--- FAIL: (\S+)/,
  /^test (\S+) \.\.\. FAILED$/,
  // vitest: ` FAIL  a.test.ts > adds up`; jest: `  ● basket › adds up`; node:test: `✖ adds up (1.2ms)`
  /^\s*FAIL\s+(.+)/,
  /^\s*[●✖×] (.+)/,
  // JUnit, with the failure in the next element
  /^\s*<testcase\s[^>]*\bname="([^"]*)"[^>]*>\s*<(?:failure|error)\b/,
];

/** More than a person reads in a sentence. */
const MAX_FAILED = 5;

/** Longer lines are not read to their end: no runner prints its counts there. */
const MAX_LINE_LENGTH = 500;

/** Counts the tests that passed according to a test runner's output; undefined if no runner is recognized. */
export function countTests(output: string): number | undefined {
  const lines = splitLines(output);
  for (const pattern of COUNTS) {
    const counts = lines.flatMap((line) => pattern.exec(line)?.[1] ?? []);
    if (counts.length > 0) return counts.reduce((sum, count) => sum + Number(count), 0);
  }
  const passed = PASSED.map((pattern) => lines.filter((line) => pattern.test(line)).length);
  return passed.find((count) => count > 0);
}

/** Lists the first few tests that failed according to a test runner's output. */
export function listFailedTests(output: string): readonly string[] {
  const names = splitLines(output).flatMap((line) => {
    const match = FAILED.map((pattern) => pattern.exec(line)?.[1]).find((name) => name !== undefined);
    return match === undefined ? [] : [match.trim()];
  });
  return [...new Set(names)].slice(0, MAX_FAILED);
}

function splitLines(output: string): readonly string[] {
  return output.split(/\r?\n/).map((line) => stripVTControlCharacters(line.slice(0, MAX_LINE_LENGTH)));
}
