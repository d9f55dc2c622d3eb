import type { Evidence, RunResult, WorkResult } from '../../store/records/index.js';
import { dropFullStop, showLine } from '../plain-text.js';
import { isTestPath } from './changes.js';
import type { NamedCheck } from './checks.js';

/** One attempt at a check: its run and its result, or why it did not start. */
export type CheckTry =
  | {
      readonly run: string;
      readonly result: RunResult;
      readonly durationMs: number;
      /** How many tests passed, if its output says so. */
      readonly passedTests?: number | undefined;
      /** The first tests that failed, if its output names them. */
      readonly failedTests?: readonly string[];
    }
  | { readonly run?: string; readonly problem: string };

/** All attempts at one check. */
export interface CheckOutcome {
  readonly check: NamedCheck;
  readonly tries: readonly CheckTry[];
  /** Files that the check runs, or that steer it, and that the change modifies. */
  readonly rewritten?: readonly string[];
  /** Those of them that could be what the check tests. */
  readonly uncertain?: readonly string[];
  /** Tests that the change leaves without content. */
  readonly blankTests?: readonly string[];
  /** All files of the change. */
  readonly changed?: readonly string[];
  /** Attempts with the tests and the configuration from before the change, and the files that were restored. */
  readonly base?: { readonly tries: readonly CheckTry[]; readonly files: readonly string[] };
  /** The check of the commit from before the change, which shows how many tests there were. */
  readonly before?: CheckTry;
}

/**
 * Judges a result by one of its checks. Confirmed only if its last attempt passed, the agent does not claim otherwise,
 * and the change does not modify what the check runs, or the check also passes with those files as they were; and if
 * the change loses no tests.
 */
export function judgeCheck(outcome: CheckOutcome, claimed: WorkResult | undefined): Evidence {
  const { check, tries } = outcome;
  const last = tries.at(-1);
  const run = last?.run === undefined ? {} : { run: last.run };
  const outcomes = describeTries(tries);
  const command = showLine(check.command.join(' '), 200);
  const detail = `${check.name} (${command}): ${outcomes === '' ? 'not run' : outcomes}.${describeSandbox(check, last)}`;
  if (last === undefined || !isConclusive(last)) {
    return { claim: 'tests', by: 'sluice', verdict: 'unchecked', detail, ...run };
  }
  const hasPassed = didPass(last.result);
  const reported = claimed?.tests === 'n/a' ? undefined : claimed?.tests?.result;
  if (hasPassed && reported === 'fail') {
    return contradict(`${detail} The agent reports that its tests failed.`, last.run);
  }
  if (!hasPassed) return contradict(detail, last.run);
  const doubt = findDoubt(outcome, last);
  return {
    claim: 'tests',
    by: 'sluice',
    verdict: doubt === undefined ? 'confirmed' : 'unchecked',
    detail: [detail, doubt?.why, ...describeCosts(outcome)].filter(Boolean).join(' '),
    ...run,
    ...(doubt === undefined ? {} : { files: doubt.files.slice(0, MAX_FILES) }),
  };
}

/** More files than a person compares. */
const MAX_FILES = 50;

/** A check with a result that says something about the change. */
type ConclusiveTry = Extract<CheckTry, { readonly result: RunResult }>;

function isConclusive(checkTry: CheckTry | undefined): checkTry is ConclusiveTry {
  return checkTry !== undefined && 'result' in checkTry && !isInconclusive(checkTry.result);
}

/** Finds out why a check that passed proves nothing, and the files that a person has to look at. */
function findDoubt(
  { rewritten = [], uncertain = [], blankTests = [], changed = [], base, before }: CheckOutcome,
  last: ConclusiveTry,
): { readonly why: string; readonly files: readonly string[] } | undefined {
  const lastBase = base?.tries.at(-1);
  const restored = isConclusive(lastBase) ? lastBase : undefined;
  if (base !== undefined && restored !== undefined && !didPass(restored.result)) {
    const failed = restored.failedTests ?? [];
    const names = failed.length === 0 ? '' : ` Failed without them: ${showLine(failed.join(', '), 300)}.`;
    return {
      why: `It passed only with the change's own versions of ${showFiles(base.files)}.${names}`,
      files: base.files,
    };
  }
  if (blankTests.length > 0)
    return { why: `It passed, but the change leaves nothing in ${showFiles(blankTests)}.`, files: blankTests };
  const counts = [restored, before].flatMap((each) => (isConclusive(each) ? (each.passedTests ?? []) : []));
  const expected = Math.max(0, ...counts);
  if ((last.passedTests ?? 0) < expected) {
    const all = changed.length > 0 ? changed : (base?.files ?? []);
    const tests = all.filter(isTestPath);
    const files = tests.length > 0 ? tests : all;
    const why = `It passed, but the change has fewer tests: ${last.passedTests ?? 'none'} passed, ${expected} before. Changed: ${showFiles(files)}.`;
    return { why, files };
  }
  // Restoring all of them would also restore what it tests.
  if (uncertain.length > 1)
    return {
      why: `It passed, but the change modifies several files that it names, so none of them proves the others: ${showFiles(uncertain)}.`,
      files: uncertain,
    };
  if (restored !== undefined || rewritten.length === 0) return undefined;
  return { why: `It passed, but the change rewrites what it runs: ${showFiles(rewritten)}.`, files: rewritten };
}

/** Describes the further attempts and how long they took. */
function describeCosts({ base, before }: CheckOutcome): readonly string[] {
  const lastBase = base?.tries.at(-1);
  return [
    base !== undefined && isConclusive(lastBase)
      ? `With the tests and configuration from before the change (run ${lastBase.run}): ${describeTries(base.tries)}.`
      : '',
    isConclusive(before) && before.passedTests !== undefined
      ? `Before the change (run ${before.run}): ${before.passedTests} tests passed, ${describeTry(before)}.`
      : '',
  ];
}

function showFiles(files: readonly string[]): string {
  return showLine(files.slice(0, 5).join(', '), 300);
}

/** Describes a check's sandbox. */
function describeSandbox({ network = 'none' }: NamedCheck, last: CheckTry | undefined): string {
  if (last === undefined || !('result' in last) || last.result.process === undefined) return '';
  const { sandbox } = last.result;
  if (sandbox?.used === true) return network === 'none' ? ' Sandboxed, without network.' : ' Sandboxed, with network.';
  const why = sandbox?.reason === undefined ? '' : `: ${dropFullStop(showLine(sandbox.reason, 200))}`;
  return network === 'none' ? ` Not sandboxed${why}, so the network was not blocked.` : ` Not sandboxed${why}.`;
}

/** Whether a check's run passed: its process exited with code 0 and was not stopped. */
export function didPass({ status, process }: RunResult): boolean {
  return status === 'success' && process?.exit_code === 0 && process.signal === null;
}

/** Whether Sluice stopped the process or never started it. The run then proves nothing about the change. */
export function isInconclusive({ process, error }: RunResult): boolean {
  return process === undefined || error?.category === 'canceled';
}

function describeTries(tries: readonly CheckTry[]): string {
  return tries
    .map((checkTry, index) => (tries.length > 1 ? `try ${index + 1} ` : '') + describeTry(checkTry))
    .join(', ');
}

function describeTry(checkTry: CheckTry): string {
  if (!('result' in checkTry)) return dropFullStop(checkTry.problem);
  const { result, durationMs } = checkTry;
  const { process, error } = result;
  const seconds = `${Number((durationMs / 1000).toFixed(1))} s`;
  if (process === undefined)
    return `could not be started: ${dropFullStop(showLine(error?.message ?? 'no process', 200))}`;
  if (error?.category === 'timeout') return `timed out after ${seconds}`;
  if (error?.category === 'canceled') return `stopped after ${seconds}`;
  if (error?.category === 'limit') return `stopped after ${seconds}: ${dropFullStop(showLine(error.message, 200))}`;
  const end = process.signal === null ? `exit code ${process.exit_code}` : `terminated by signal ${process.signal}`;
  return `${end} after ${seconds}`;
}

function contradict(detail: string, run: string): Evidence {
  return { claim: 'tests', by: 'sluice', verdict: 'contradicted', detail, run };
}
