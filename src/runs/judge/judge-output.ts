import { getErrorMessage, isSluiceError, cutText } from '../../base/index.js';
import { createCommentError, parseAsync } from '../../json/index.js';
import type { ParseError, Repair, RepairLevel, SchemaIssue, StandardSchema, Warning } from '../../json/index.js';
import { stripDoneMarker } from '../spec/render-contract.js';
import type { RunContract } from '../../store/records/index.js';

/** An answer judged against the contract. */
export type JudgedOutput =
  | { readonly verdict: 'no_contract' }
  | {
      readonly verdict: 'validated';
      readonly value: unknown;
      readonly repairLevel: RepairLevel;
      readonly repairs: readonly Repair[];
      readonly warnings: readonly Warning[];
    }
  | {
      readonly verdict: 'comment';
      readonly comment: string;
      readonly warnings: readonly Warning[];
      readonly error: ParseError;
    }
  | {
      readonly verdict: 'not_validated';
      readonly reason: string;
      readonly warnings: readonly Warning[];
      /** Absent if the schema threw an error. */
      readonly error?: ParseError;
    };

/** The maximum length of a reason; the full list of errors is in the result. */
const MAX_REASON_LENGTH = 2000;

/**
 * Validates an answer against the contract. The schema alone determines success; repairs and alignment only prepare the
 * value for it. The done marker is stripped first. `comment`: the whole output, which an answer without tags degrades to.
 */
export async function judgeOutput(
  text: string,
  contract: RunContract | undefined,
  schema: StandardSchema | undefined,
  comment = text,
): Promise<JudgedOutput> {
  if (contract === undefined) return { verdict: 'no_contract' };
  const { profile, allow_partial: allowPartial = false, align = false, normalizers = [] } = contract;
  const stripMarker = (value: unknown): unknown => stripDoneMarker(value, contract.schema);
  try {
    const result = await parseAsync(text, schema, {
      ...(profile === undefined ? {} : { profile }),
      allowPartial,
      align: align && schema !== undefined,
      normalizers: [stripMarker, ...normalizers],
    });
    const { warnings } = result;
    switch (result.status) {
      case 'success': {
        const { value, repairLevel, repairs } = result;
        return { verdict: 'validated', value, repairLevel, repairs, warnings };
      }
      case 'comment':
        return { verdict: 'comment', comment, warnings, error: createCommentError(undefined) };
      case 'failed':
        return { verdict: 'not_validated', reason: describe(result.error), warnings, error: result.error };
    }
  } catch (error) {
    // The caller's schema can throw; the run still ends with a result that reports the error.
    return {
      verdict: 'not_validated',
      reason: `The contract schema threw an error: ${describeThrown(error)}`,
      warnings: [],
    };
  }
}

function describe(error: ParseError): string {
  const issues = (error.issues ?? []).slice(0, 5).map(describeIssue).join('; ');
  const detail = issues === '' || error.message.includes(issues) ? '' : ` (${issues})`;
  const text = `The output did not pass the contract schema: [${error.code}] ${error.message}${detail}`;
  return text.length > MAX_REASON_LENGTH ? `${cutText(text, MAX_REASON_LENGTH)}…` : text;
}

function describeIssue({ path, message }: SchemaIssue): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

function describeThrown(error: unknown): string {
  if (isSluiceError(error)) return `[${error.code}] ${error.message}`;
  return getErrorMessage(error);
}
