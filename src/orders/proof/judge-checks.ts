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
    }
  | { readonly run?: string; readonly problem: string };

/** All attempts at one check. */
export interface CheckOutcome {
  readonly check: NamedCheck;
  readonly tries: readonly CheckTry[];
  /** Files that the check runs, or that steer it, and that the change modifies. */
  readonly rewritten?: readonly string[];
  /** Attempts with the tests and the configuration from before the change, and the files that were restored. */
  readonly base?: { readonly tries: readonly CheckTry[]; readonly files: readonly string[] };
}

/**
 * Judges a result by one of its checks. Confirmed only if its last attempt passed, the agent does not claim otherwise,
 * and the change does not modify what the check runs, or the check also passes with those files as they were, and no
 * more tests.
 *
 * @example
 * judgeCheck({ check, tries: [{ run, result, durationMs: 1200 }] }, workResult).verdict
 */
export function judgeCheck(outcome: CheckOutcome, claimed: WorkResult | undefined): Evidence {
  const { check, tries, rewritten = [], base } = outcome;
  const last = tries.at(-1);
  const run = last?.run === undefined ? {} : { run: last.run };
  const outcomes = describeTries(tries);
  const command = showLine(check.command.join(' '), 200);
  const detail = `${check.name} (${command}): ${outcomes === '' ? 'not run' : outcomes}.${describeSandbox(check, last)}`;
  if (last === undefined || !('result' in last) || isInconclusive(last.result)) {
    return { claim: 'tests', by: 'sluice', verdict: 'unchecked', detail, ...run };
  }
  const hasPassed = didPass(last.result);
  const reported = claimed?.tests === 'n/a' ? undefined : claimed?.tests?.result;
  if (hasPassed && reported === 'fail') {
    return contradict(`${detail} The agent reports that its tests failed.`, last.run);
  }
  if (!hasPassed) return contradict(detail, last.run);
  const lastBase = base?.tries.at(-1);
  if (base !== undefined && lastBase !== undefined && 'result' in lastBase && !isInconclusive(lastBase.result)) {
    const cost = `With the tests and configuration from before the change (run ${lastBase.run}): ${describeTries(base.tries)}.`;
    const lost = describeLostTests(last.passedTests, lastBase.passedTests, base.files);
    if (didPass(lastBase.result)) {
      const verdict = lost === '' ? 'confirmed' : 'unchecked';
      return { claim: 'tests', by: 'sluice', verdict, detail: `${detail}${lost} ${cost}`, ...run };
    }
    const explanation = `${detail} It passed only with the change's own versions of ${showFiles(base.files)}. ${cost}`;
    return { claim: 'tests', by: 'sluice', verdict: 'unchecked', detail: explanation, ...run };
  }
  if (rewritten.length > 0) {
    const explanation = `${detail} It passed, but the change rewrites what it runs: ${showFiles(rewritten)}.`;
    return { claim: 'tests', by: 'sluice', verdict: 'unchecked', detail: explanation, ...run };
  }
  return { claim: 'tests', by: 'sluice', verdict: 'confirmed', detail, ...run };
}

/** Describes that fewer tests passed than with the earlier files: those that are missing cannot fail any more. */
function describeLostTests(now: number | undefined, before: number | undefined, files: readonly string[]): string {
  if (before === undefined || (now ?? 0) >= before) return '';
  const tests = files.filter(isTestPath);
  const changed = showFiles(tests.length > 0 ? tests : files);
  return ` It passed, but the change has fewer tests: ${now ?? 'none'} passed, ${before} before. Changed: ${changed}.`;
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
