import { ACTIONS } from './resolution-actions.js';
import type { ResolutionAction } from './resolution-actions.js';
import { EMPTY_RESULT_FORM, missingOf, parseResult, resultOf } from './result-form.js';
import type { ResultField } from './result-form.js';
import type { ResolveBody } from './use-preview.js';

/** A decision while it is made. */
export const EMPTY_DECISION = {
  /** Nothing is chosen beforehand: every choice is final. */
  action: '',
  why: '',
  view: 'fields',
  json: '',
  ...EMPTY_RESULT_FORM,
};

/** See {@link EMPTY_DECISION}. */
export type DecisionFields = Readonly<typeof EMPTY_DECISION>;

/** A field of the decision. */
export type DecisionField = ResultField | 'why' | 'action';

/** The action that is chosen; null if none is. */
export function actionOf({ action }: DecisionFields): ResolutionAction | null {
  return ACTIONS.find((words) => words.action === action)?.action ?? null;
}

/** What a decision asks of the server, as soon as it can be asked; until then, what is missing. */
export function readDecision(
  fields: DecisionFields,
  item: { readonly issue_ref: string; readonly run_id: string },
  who: string,
): { readonly body: ResolveBody | null; readonly wrong: Readonly<Partial<Record<DecisionField, string>>> } {
  const action = actionOf(fields);
  if (action === null) return { body: null, wrong: {} };
  if (fields.why.trim() === '') return { body: null, wrong: { why: 'Say why: the comment and the audit quote it.' } };
  const told = { action, why: fields.why.trim(), ...(who.trim() === '' ? {} : { who: who.trim() }) };
  if (action !== 'edit') return { body: told, wrong: {} };
  if (fields.view !== 'json') {
    const wrong = missingOf(fields);
    const isWhole = Object.keys(wrong).length === 0;
    return { body: isWhole ? { ...told, result: resultOf(fields, item) } : null, wrong };
  }
  const parsed = parseResult(fields.json);
  if ('wrong' in parsed) return { body: null, wrong: { json: parsed.wrong } };
  return { body: { ...told, result: parsed.result }, wrong: {} };
}
