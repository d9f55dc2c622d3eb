import { findMissingEvidence } from '../proof/missing-evidence.js';
import { showLine } from '../plain-text.js';
import { isIncompleteCode } from '../../store/records/index.js';
import type { EvidencePolicy } from '../proof/checks.js';
import { findUnproven } from '../proof/judge-result.js';
import type {
  Decision,
  Evidence,
  Reading,
  Resolution,
  ResultCode,
  WorkOrder,
  WorkResult,
} from '../../store/records/index.js';
import {
  describeAdvance,
  describeDisagreement,
  describeExit,
  describeExitSentence,
  describeLastOutput,
  describeMissingResult,
  describeReport,
  findKnownCode,
  listNames,
  listProblems,
  toSentence,
} from './decision-words.js';
import type { ProcessExit } from './decision-words.js';

/** Everything a decision depends on. */
export interface DecisionInput {
  readonly order: Pick<WorkOrder, 'issue_ref' | 'run_id' | 'expects'>;
  readonly reading: Reading;
  /**
   * The run whose result counts; null if no run is active, undefined if another run is active and its id is unknown.
   */
  readonly activeRunId: string | null | undefined;
  /** How the agent's process exited; unknown if both are missing. */
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  /** How long it ran. */
  readonly durationMs?: number | null;
  /** The run's error, besides exit code and signal: timeout, limit exceeded, refused by the model. */
  readonly runError?: string;
  /** The run that contains its output. */
  readonly run?: string;
  /** The end of what it printed, with secrets masked. */
  readonly lastOutput?: string;
  /** Unresolved issues that the order depends on: the agent was not started. */
  readonly unresolved?: readonly string[];
  /** Why the agent could not be started. */
  readonly startError?: string;
  /** The run was canceled before its process started. */
  readonly canceled?: boolean;
  /** Evidence about the result, besides its own claims. */
  readonly evidence?: readonly Evidence[];
  /** The evidence required to advance; `reported` by default. */
  readonly policy?: EvidencePolicy;
  /** Names of the checks that the order requires. */
  readonly checks?: readonly string[];
}

/**
 * Decides an order with a table of rules; the first match wins. Only the last rule advances an order. Only an `ok` from
 * the active run with evidence, an explicit statement about tests and exit code 0 reaches it.
 *
 * @example
 * decide({ order, reading, activeRunId: order.run_id, exitCode: 0, signal: null }).action // 'advance'
 */
export function decide(input: DecisionInput): Decision {
  const ended = { ...input, exitCode: input.exitCode ?? null, signal: input.signal ?? null };
  for (const rule of RULES) {
    const decision = rule(ended);
    if (decision !== undefined) return withEvidence(decision, input.evidence);
  }
  return withEvidence(decideByStatus(ended), input.evidence);
}

function withEvidence(decision: Decision, evidence: readonly Evidence[] | undefined): Decision {
  return evidence === undefined ? decision : { ...decision, evidence };
}

type EndedInput = DecisionInput & ProcessExit;
type Rule = (input: EndedInput) => Decision | undefined;

const RULES: readonly Rule[] = [
  function isNotActiveRun({ order, activeRunId }) {
    if (activeRunId === order.run_id && order.run_id !== '') return undefined;
    return {
      action: 'archive',
      result_code: 'stale_run',
      reason: `${describeActive(activeRunId)}, so the result of ${order.run_id} is archived and changes nothing.`,
      next: 'Nothing to do.',
    };
  },

  function hasUnresolvedDependencies({ unresolved = [] }) {
    if (unresolved.length === 0) return undefined;
    return {
      action: 'blocked',
      result_code: 'dep_unresolved',
      reason: `The agent was not started: ${listNames(unresolved)} must be in review or done first.`,
      next: 'Submit the order again after that.',
    };
  },

  function wasCanceledBeforeStart({ canceled = false }) {
    if (!canceled) return undefined;
    return askHuman('manual_intervention', 'The run was canceled before it started.', 'Retry it, or reject it.');
  },

  function couldNotStart({ startError }) {
    if (startError === undefined) return undefined;
    return askHuman(
      'env_unavailable',
      `The agent could not be started: ${toSentence(startError)}`,
      'Fix the cause, then retry.',
    );
  },

  function namesAnotherRun({ order, reading: { result } }) {
    if (result === undefined) return undefined;
    if (result.issue_ref === order.issue_ref && result.run_id === order.run_id) return undefined;
    const actualRun = `${showLine(result.issue_ref, 100)} ${showLine(result.run_id, 100)}`;
    return askHuman(
      'stale_run',
      `The result names ${actualRun} instead of ${order.issue_ref} ${order.run_id}; it is archived and counts for neither.`,
      'Check what the agent did, then retry or enter the result by hand.',
    );
  },

  function diedWithoutResult({ reading, durationMs, runError, run, lastOutput, ...end }) {
    const exitedCleanly = end.exitCode === 0 && end.signal === null;
    if (isFromFile(reading) || exitedCleanly) return undefined;
    const command = run === undefined ? '' : ` (sluice export ${run} DIR)`;
    return askHuman(
      'output_unparseable',
      `${describeMissingResult(end, durationMs)}${runError === undefined ? '' : ` ${toSentence(runError)}`}${describeLastOutput(lastOutput)}`,
      `Check its last output${command}, then retry or enter the result by hand.`,
    );
  },

  function isUnreadable({ reading, lastOutput, ...end }) {
    if (reading.result !== undefined && isFromFile(reading)) return undefined;
    const isIncomplete = reading.problems.length > 0 && reading.problems.every(({ code }) => isIncompleteCode(code));
    const description = reading.problems.length === 0 ? 'no result found' : listProblems(reading.problems);
    return askHuman(
      isIncomplete ? 'manual_intervention' : 'output_unparseable',
      `Cannot use the agent's result: ${description}. ${describeExitSentence(end)}${reading.source === 'none' ? describeLastOutput(lastOutput) : ''}`,
      'Check the output, then enter the result by hand or retry.',
    );
  },

  function isContradicted({ reading, evidence = [], ...end }) {
    const contradictions = evidence.filter(({ verdict }) => verdict === 'contradicted');
    if (contradictions.length === 0) return undefined;
    const facts = contradictions.slice(0, 3).map(({ detail }) => toSentence(detail));
    return askHuman(
      'evidence_contradicted',
      `The agent reports ${reading.result?.status ?? 'nothing'}, but the evidence contradicts it. ${facts.join(' ')} ${describeExitSentence(end)}`,
      'Check the change, then accept, reject or retry.',
    );
  },

  function lacksEvidence({ order, reading, ...end }) {
    const missing = reading.result === undefined ? [] : findMissingEvidence(reading.result, order);
    const knownCodes = new Set(reading.problems.map(({ code }) => code));
    const problems = [...reading.problems, ...missing.filter(({ code }) => !knownCodes.has(code))];
    if (problems.length === 0) return undefined;
    return askHuman(
      'manual_intervention',
      `The agent reports ${reading.result?.status ?? 'nothing'}, but ${listProblems(problems)}. ${describeExitSentence(end)}`,
      'Check what was done, then accept it, complete the result, or retry.',
    );
  },

  function hasUnknownExit({ reading, exitCode, signal }) {
    if (exitCode !== null || signal !== null) return undefined;
    return askHuman(
      'manual_intervention',
      `The agent reports ${reading.result?.status ?? 'nothing'}, but its exit status is unknown.`,
      'Check that the work is complete, then accept it or retry.',
    );
  },

  function contradictsItself({ reading: { result }, ...end }) {
    const objections = result?.status === 'ok' ? findObjections(result, end) : [];
    if (objections.length === 0) return undefined;
    return askHuman(
      'manual_intervention',
      `The agent reports ok, but ${objections.join(', and ')}.`,
      'Check which one is correct, then accept, reject or retry.',
    );
  },

  function isUnproven({ order, reading: { result }, evidence = [], policy = 'reported', checks = [] }) {
    const unproven = result?.status === 'ok' ? findUnproven(evidence, policy, order, checks) : [];
    if (unproven.length === 0) return undefined;
    return askHuman(
      'manual_intervention',
      `The agent reports ok, but this is not proven: ${toSentence(unproven.slice(0, 3).join('; '))}`,
      'Check the change, then accept, reject or retry.',
    );
  },
];

function decideByStatus({ reading: { result }, evidence, ...end }: EndedInput): Decision {
  const code = findKnownCode(result?.result_code);
  const blockedBy = result?.blocked_by ?? [];
  const blockers = blockedBy.length > 0 ? ` It is waiting for ${listNames(blockedBy)}.` : '';
  switch (result?.status) {
    case 'fail':
      return {
        action: 'blocked',
        result_code: code ?? 'test_failed',
        reason: `The agent reports fail${describeReport(result)}.${blockers} ${describeExitSentence(end)}${describeDisagreement(result)}`,
        next: 'Check what failed, then change the order or submit it again.',
      };
    case 'blocked':
      return {
        action: 'blocked',
        result_code: code ?? (blockedBy.length > 0 ? 'dep_unresolved' : 'manual_intervention'),
        reason: `The agent reports blocked${describeReport(result)}.${blockers} ${describeExitSentence(end)}`,
        next:
          blockedBy.length > 0
            ? 'Submit the order again when these are resolved.'
            : 'Remove the blocker, then submit the order again.',
      };
    case 'ok':
      return {
        action: 'advance',
        result_code: 'none',
        reason: describeAdvance(evidence),
        next: 'Review the change.',
      };
    case undefined:
      // Unreachable after `isUnreadable`; a missing result must never advance, so this also asks a human.
      return askHuman('output_unparseable', 'No result found.', 'Check the output, then retry.');
  }
}

function describeActive(activeRunId: DecisionInput['activeRunId']): string {
  if (activeRunId === undefined) return 'Another run of the issue is active';
  return activeRunId === null || activeRunId === ''
    ? 'No run of the issue is active'
    : `Run ${showLine(activeRunId, 100)} is active`;
}

/** Whether the result comes from a file rather than from the output. */
function isFromFile({ source }: Reading): boolean {
  return source === 'json' || source === 'text';
}

function findObjections(result: WorkResult, end: ProcessExit): string[] {
  const objections: string[] = [];
  if (end.signal !== null || end.exitCode !== 0) objections.push(describeExit(end));
  if (result.tests !== 'n/a' && result.tests?.result === 'fail') objections.push('its tests failed');
  const code = result.result_code ?? 'none';
  if (code !== 'none') objections.push(`it reports the code ${showLine(code, 50)}`);
  if ((result.blocked_by ?? []).length > 0) objections.push(`it is blocked by ${listNames(result.blocked_by ?? [])}`);
  return objections;
}

function askHuman(result_code: ResultCode, reason: string, next: string): Decision {
  return { action: 'needs-human', result_code, reason, next };
}

/** Turns a human choice into a decision. A retry archives the old run's result; the new run is decided separately. */
export function decideFromResolution({ action, who, why }: Pick<Resolution, 'action' | 'who' | 'why'>): Decision {
  const { decision, result_code, did, next } = RESOLVED[action];
  return { action: decision, result_code, reason: `${showLine(who, 100)} ${did}: ${showLine(why, 500)}`, next };
}

const ACCEPTED = { decision: 'advance', result_code: 'none', next: 'Review the change.' } as const;
const NOT_ACCEPTED = { result_code: 'manual_intervention' } as const;

/** The decision that each human choice becomes, and what the human did. */
const RESOLVED = {
  accept: { ...ACCEPTED, did: 'accepted the result' },
  edit: { ...ACCEPTED, did: 'corrected the result and accepted it' },
  reject: {
    ...NOT_ACCEPTED,
    decision: 'blocked',
    did: 'rejected the result',
    next: 'Change the order and submit it again.',
  },
  retry: { ...NOT_ACCEPTED, decision: 'archive', did: 'retried the order', next: 'Wait for the new run.' },
} as const;
