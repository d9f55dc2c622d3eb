import type { Evidence, Reading, WorkOrder, WorkResult } from '../../store/records/index.js';
import { isNoneLike } from './missing-evidence.js';
import { showLine } from '../plain-text.js';
import type { EvidencePolicy } from './checks.js';

/** Lists a result's claims as unchecked evidence. Omits a commit or pull request that has already been examined. */
export function listReported(result: WorkResult | undefined, verified: readonly Evidence[]): readonly Evidence[] {
  if (result === undefined || result.status === 'blocked') return [];
  const { changes, tests } = result;
  const has = (claim: Evidence['claim']) => verified.some((evidence) => evidence.claim === claim);
  const reported: Evidence[] = [];
  for (const claim of ['commit', 'pr'] as const) {
    const name = changes[claim];
    if (name !== undefined && !isNoneLike(name) && !has(claim)) reported.push(createUnchecked(claim, name));
  }
  if (tests === 'n/a') reported.push(createUnchecked('tests', 'n/a'));
  else if (tests !== undefined) {
    const evidenceNote = tests.evidence.trim() === '' ? '' : ` (${tests.evidence})`;
    reported.push(createUnchecked('tests', `${tests.command} => ${tests.result}${evidenceNote}`));
  }
  return reported;
}

function createUnchecked(claim: Evidence['claim'], detail: string): Evidence {
  return { claim, by: 'worker', verdict: 'unchecked', detail: showLine(detail, 300) };
}

/**
 * Lists what a result lacks to be proven: a confirmed commit or pull request, unless it is a report, and confirmation
 * of every check. Empty if it is proven, or if the policy requires no proof.
 */
export function findUnproven(
  evidence: readonly Evidence[],
  policy: EvidencePolicy,
  order: Pick<WorkOrder, 'expects'>,
  checks: readonly string[],
): readonly string[] {
  if (policy === 'reported') return [];
  const isConfirmed = (claim: Evidence['claim']) =>
    evidence.some((entry) => entry.claim === claim && entry.verdict === 'confirmed');
  const checkResults = evidence.filter(({ claim, by }) => claim === 'tests' && by === 'sluice');
  const unconfirmed = checkResults.filter(({ verdict }) => verdict !== 'confirmed');
  const hasChange = order.expects === 'report' || isConfirmed('commit') || isConfirmed('pr');
  return [
    ...(hasChange ? [] : ['neither a commit nor a pull request is confirmed']),
    ...unconfirmed.map(({ detail }) => `a check is not confirmed: ${showLine(detail, 200)}`),
    ...(checkResults.length < checks.length
      ? [`${checks.length - checkResults.length} of its checks did not run`]
      : []),
  ];
}

/**
 * Collects all evidence about a result: whether it belongs to this run, verified facts, and the agent's unverified
 * claims.
 */
export function gatherEvidence(
  reading: Reading,
  order: Pick<WorkOrder, 'issue_ref' | 'run_id'>,
  end: Parameters<typeof judgeReading>[2],
  verified: readonly Evidence[],
): readonly Evidence[] {
  return [...judgeReading(reading, order, end), ...verified, ...listReported(reading.result, verified)];
}

/**
 * Judges whether a result belongs to this run: it names the order, and it is known how its process exited. A result
 * copied from an earlier run names that run and is contradicted.
 */
export function judgeReading(
  { result, path = 'the result' }: Reading,
  order: Pick<WorkOrder, 'issue_ref' | 'run_id'>,
  { exitCode, signal = null }: { readonly exitCode: number | null; readonly signal?: string | null },
): readonly Evidence[] {
  if (result === undefined) return [];
  const belongsToRun = result.issue_ref === order.issue_ref && result.run_id === order.run_id;
  const entry = { claim: 'result', by: 'sluice' } as const;
  if (!belongsToRun) {
    const actualRun = showLine(`${result.issue_ref} ${result.run_id}`, 200);
    return [{ ...entry, verdict: 'contradicted', detail: `${path} names ${actualRun} instead of this run.` }];
  }
  if (exitCode === null && signal === null) {
    return [{ ...entry, verdict: 'unchecked', detail: `${path} names this run; its process exit is unknown.` }];
  }
  const end = signal === null ? `exit code ${exitCode}` : `signal ${showLine(signal, 20)}`;
  return [{ ...entry, verdict: 'confirmed', detail: `${path} names this run and reports ${result.status}; ${end}.` }];
}
