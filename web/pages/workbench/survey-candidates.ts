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

/** The reason shown for a candidate that could also have been selected. */
const NOT_SELECTED = 'Another candidate was selected.';

/**
 * Lists all candidates of successfully parsed input. A success names only the selected candidate, so the input is
 * parsed again with a check that rejects everything and thereby reports every candidate.
 */
export function surveyCandidates(
  text: string,
  schema: StandardSchema | undefined,
  options: ParseOptions,
  success: ParseSuccess<unknown>,
): readonly CandidateView[] {
  const { attempts, validations } = rejectAll(text, schema, options);
  const winner = success.candidate;
  const alternativeIndex = success.warnings.find(({ code }) => code === 'AMBIGUOUS_CANDIDATES')?.offset;
  const selected = describeSelected(success);
  const views: CandidateView[] = [];
  let validatedCount = 0;
  let isSelected = false;
  for (const { candidate, code, message } of attempts) {
    const validation = code === 'SCHEMA_MISMATCH' ? validations[validatedCount++] : undefined;
    // Without a schema only `rejectValue` rejects a candidate that can be read.
    const matches = code === 'NORMALIZER_FAILED' || (validation !== undefined && validation.issues === undefined);
    if (!isSelected && isSameCandidate(candidate, winner)) {
      isSelected = true;
      views.push(selected);
    } else if (isSelected || matches) {
      // Candidates inside the selected one are skipped: `parse` would not have looked for them.
      if (candidate.start >= winner.start && candidate.end <= winner.end) continue;
      const isAlternative = candidate.start === alternativeIndex;
      views.push({
        ...candidate,
        state: isAlternative ? 'alternative' : 'unchecked',
        code: null,
        reason: isAlternative ? 'Also matches, with a different value.' : NOT_SELECTED,
      });
    } else {
      const issues = validation?.issues;
      views.push(
        issues === undefined
          ? { ...candidate, state: 'rejected', code, reason: message }
          : { ...candidate, state: 'rejected', code: 'SCHEMA_MISMATCH', reason: describeIssues(issues) },
      );
    }
  }
  return isSelected ? views : [selected, ...views];
}

/** Describes a success' candidate, and why it was selected. */
export function describeSelected(success: ParseSuccess<unknown>): CandidateView {
  return { ...success.candidate, state: 'selected', code: null, reason: explainSelection(success) };
}

function rejectAll(
  text: string,
  schema: StandardSchema | undefined,
  { profile, prefer }: ParseOptions,
): { readonly attempts: readonly Attempt[]; readonly validations: readonly StandardResult<unknown>[] } {
  const validations: StandardResult<unknown>[] = [];
  const settings = { ...(profile !== undefined && { profile }), ...(prefer !== undefined && { prefer }) };
  const result =
    schema === undefined
      ? parse(text, undefined, { ...settings, normalizers: [rejectValue] })
      : parse(text, createRejectingSchema(schema, validations), settings);
  return { attempts: result.status === 'failed' ? result.attempts : [], validations };
}

/** Without a schema other rules apply, so a normalizer rejects the value instead of a schema. */
function rejectValue(): never {
  throw new Error('rejected to list all candidates');
}

function createRejectingSchema(schema: StandardSchema, validations: StandardResult<unknown>[]): StandardSchema {
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      validate(value) {
        const validation = schema['~standard'].validate(value);
        // All schemas in the workbench are synchronous.
        if (!(validation instanceof Promise)) validations.push(validation);
        return { issues: [{ message: 'rejected to list all candidates' }] };
      },
    },
  };
}

function isSameCandidate(one: Candidate, other: Candidate): boolean {
  return one.finder === other.finder && one.start === other.start;
}

function explainSelection({ repairs, alignment }: ParseSuccess<unknown>): string {
  if (alignment.length > 0) return 'Matches after alignment to the schema.';
  if (repairs.some(({ kind }) => kind === 'truncated')) return 'Truncated: the part that arrived is used.';
  return 'The best candidate that matches.';
}

function describeIssues(
  issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[],
) {
  const messages = issues
    .slice(0, 3)
    .map(({ path = [], message }) => `${path.map(String).join('.')} ${message}`.trim());
  return messages.join('; ') + (issues.length > 3 ? `; and ${issues.length - 3} more` : '');
}
