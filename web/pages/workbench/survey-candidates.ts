import { parse } from '../../../src/json/index.js';
import type {
  Attempt,
  Candidate,
  ParseOptions,
  ParseSuccess,
  StandardResult,
  StandardSchema,
} from '../../../src/json/index.js';
import type { CandidateView } from './inspection.js';

/** The note on a candidate that was refused without a schema. */
const NOT_LOOKED_AT = 'not checked: an earlier candidate was selected';

/**
 * All candidates of a text that gave a value. A success names only the selected one; so the text is read again with a check
 * that rejects everything, which lists every candidate.
 */
export function surveyCandidates(
  text: string,
  schema: StandardSchema | undefined,
  options: ParseOptions,
  success: ParseSuccess<unknown>,
): readonly CandidateView[] {
  const { attempts, answers } = refuseAll(text, schema, options);
  const winner = success.candidate;
  const rivalAt = success.warnings.find(({ code }) => code === 'AMBIGUOUS_CANDIDATES')?.offset;
  const taken = takenCandidate(success);
  const views: CandidateView[] = [];
  let passedBy = 0;
  let isTaken = false;
  for (const { candidate, code, message } of attempts) {
    const answer = READ.has(code) ? answers[passedBy++] : undefined;
    if (!isTaken && isSame(candidate, winner)) {
      isTaken = true;
      views.push(taken);
    } else if (isTaken || (answer !== undefined && answer.issues === undefined)) {
      // Candidates inside the selected one would never have been searched for.
      if (candidate.start >= winner.start && candidate.end <= winner.end) continue;
      const isRival = candidate.start === rivalAt;
      views.push({
        ...candidate,
        state: isRival ? 'rival' : 'spare',
        code: null,
        reason: isRival ? 'also matches, with a different value' : NOT_LOOKED_AT,
      });
    } else {
      const issues = answer?.issues;
      views.push(
        issues === undefined
          ? { ...candidate, state: 'refused', code, reason: message }
          : { ...candidate, state: 'refused', code: 'SCHEMA_MISMATCH', reason: describeIssues(issues) },
      );
    }
  }
  return isTaken ? views : [taken, ...views];
}

/** The candidate of a success, and why it was taken. */
export function takenCandidate(success: ParseSuccess<unknown>): CandidateView {
  return { ...success.candidate, state: 'taken', code: null, reason: reasonToTake(success) };
}

/** Codes of candidates that were read, and so were asked about. */
const READ: ReadonlySet<string> = new Set(['SCHEMA_MISMATCH', 'NORMALIZER_FAILED']);

function refuseAll(
  text: string,
  schema: StandardSchema | undefined,
  { profile, prefer }: ParseOptions,
): { readonly attempts: readonly Attempt[]; readonly answers: readonly StandardResult<unknown>[] } {
  const answers: StandardResult<unknown>[] = [];
  const settings = { ...(profile !== undefined && { profile }), ...(prefer !== undefined && { prefer }) };
  const result =
    schema === undefined
      ? parse(text, undefined, { ...settings, normalizers: [refuseValue] })
      : parse(text, refusing(schema, answers), settings);
  return { attempts: result.status === 'failed' ? result.attempts : [], answers };
}

/** Without a schema the text is read by other rules, so none may be put in its place: a normalizer refuses instead. */
function refuseValue(): never {
  throw new Error('rejected to list all candidates');
}

function refusing(schema: StandardSchema, answers: StandardResult<unknown>[]): StandardSchema {
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      validate(value) {
        const answer = schema['~standard'].validate(value);
        // The workbench's schemas all answer at once.
        if (!(answer instanceof Promise)) answers.push(answer);
        return { issues: [{ message: 'rejected to list all candidates' }] };
      },
    },
  };
}

function isSame(one: Candidate, other: Candidate): boolean {
  return one.finder === other.finder && one.start === other.start;
}

function reasonToTake({ repairs, alignment }: ParseSuccess<unknown>): string {
  if (alignment.length > 0) return 'matches after alignment to the schema';
  if (repairs.some(({ kind }) => kind === 'truncated')) return 'truncated; the part before the cut is used';
  return 'the first that matches';
}

function describeIssues(
  issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[],
) {
  const shown = issues.slice(0, 3).map(({ path = [], message }) => `${path.map(String).join('.')} ${message}`.trim());
  return shown.join('; ') + (issues.length > 3 ? `; and ${issues.length - 3} more` : '');
}
