import type { Client } from '../../../src/client/index.js';
import { EMPTY_RESULT_FORM, missingOf, parseResult, resultOf } from './result-form.js';
import type { ResultField } from './result-form.js';

/** What `POST /v1/inbox/{id}/resolve` takes. */
export type ResolveBody = Parameters<Client['resolveItem']>[0]['body'];

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

/** What a person can do about an item. */
type ResolutionAction = 'accept' | 'edit' | 'retry' | 'reject';

/** What an action is called and what it brings about. */
export interface ActionWords {
  readonly action: ResolutionAction;
  readonly label: string;
  /** What choosing it means. */
  readonly help: string;
  /** What becomes of the issue. */
  readonly outcome: (issue: string) => string;
  /** On the button that does it. */
  readonly button: string;
  /** The question before it is done. */
  readonly question: string;
}

/** In the order they are offered: the gentlest first. */
export const ACTIONS: readonly ActionWords[] = [
  {
    action: 'accept',
    label: 'Accept',
    help: 'The result counts as it was read; the issue goes to review.',
    outcome: (issue) => `The result counts, and ${issue} goes to review.`,
    button: 'Accept and write the comment',
    question: 'Accept the result?',
  },
  {
    action: 'edit',
    label: 'Edit and accept',
    help: 'You write the result down yourself, and it counts as you wrote it; the issue goes to review.',
    outcome: (issue) => `The result counts as you wrote it, and ${issue} goes to review.`,
    button: 'Accept as edited and write the comment',
    question: 'Accept the result as you wrote it?',
  },
  {
    action: 'retry',
    label: 'Retry',
    help: 'The order goes out again to the same worker, as a new run. What this run left is archived.',
    outcome: (issue) => `A new run begins for ${issue}, and this one does not count any more.`,
    button: 'Retry and write the comment',
    question: 'Send the order out again?',
  },
  {
    action: 'reject',
    label: 'Reject',
    help: 'The result does not count; the issue is blocked until its order is changed and given again.',
    outcome: (issue) => `The result does not count, and ${issue} is blocked until its order is given again.`,
    button: 'Reject and write the comment',
    question: 'Reject the result?',
  },
];

/** What a settled item says was done. */
export function wordsOfResolution(action: string): string {
  return WORDS[action] ?? action;
}

const WORDS: Readonly<Record<string, string>> = {
  accept: 'accepted the result',
  edit: 'corrected the result and accepted it',
  retry: 'sent the order out again',
  reject: 'rejected the result',
  superseded: 'gave a new order, and the question went with the run it was about',
};
