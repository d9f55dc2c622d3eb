import type { Client } from '../../../src/client/index.js';
import { EMPTY_RESULT_FORM, findMissing, parseResult, buildResult } from './result-form.js';
import type { ResultField } from './result-form.js';
import { listSaid } from './line-comments.js';
import type { LineComment } from './line-comments.js';

/** The body of `POST /v1/inbox/{id}/resolve`. */
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
export function findAction({ action }: DecisionFields): ResolutionAction | null {
  return ACTIONS.find((words) => words.action === action)?.action ?? null;
}

/** Reads the request of a decision once it is complete; until then, what is missing. */
export function readDecision(
  fields: DecisionFields,
  item: { readonly issue_ref: string; readonly run_id: string },
  who: string,
  comments: readonly LineComment[] = [],
): { readonly body: ResolveBody | null; readonly wrong: Readonly<Partial<Record<DecisionField, string>>> } {
  const action = findAction(fields);
  if (action === null) return { body: null, wrong: {} };
  if (fields.why.trim() === '') return { body: null, wrong: { why: 'Give a reason: it is quoted in the comment.' } };
  const said = listSaid(comments);
  const base = {
    action,
    why: fields.why.trim(),
    ...(who.trim() === '' ? {} : { who: who.trim() }),
    ...(said.length === 0 ? {} : { comments: said }),
  };
  if (action !== 'edit') return { body: base, wrong: {} };
  if (fields.view !== 'json') {
    const wrong = findMissing(fields);
    const isWhole = Object.keys(wrong).length === 0;
    return { body: isWhole ? { ...base, result: buildResult(fields, item) } : null, wrong };
  }
  const parsed = parseResult(fields.json);
  if ('wrong' in parsed) return { body: null, wrong: { json: parsed.wrong } };
  return { body: { ...base, result: parsed.result }, wrong: {} };
}

/** The possible actions on an item. */
type ResolutionAction = 'accept' | 'edit' | 'retry' | 'reject';

/** The label of an action and its effect. */
export interface ActionWords {
  readonly action: ResolutionAction;
  readonly label: string;
  /** Explains the action. */
  readonly help: string;
  /** The effect on the issue. */
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
    help: 'Use the result as it is; the issue moves to review.',
    outcome: (issue) => `The result is accepted and ${issue} moves to review.`,
    button: 'Accept and comment',
    question: 'Accept the result?',
  },
  {
    action: 'edit',
    label: 'Edit and accept',
    help: 'Correct the result first; the issue moves to review.',
    outcome: (issue) => `Your version of the result is accepted and ${issue} moves to review.`,
    button: 'Accept as edited and comment',
    question: 'Accept the edited result?',
  },
  {
    action: 'retry',
    label: 'Retry',
    help: 'Submit the same order to the same worker as a new run. This run is archived.',
    outcome: (issue) => `A new run starts for ${issue} and this one is archived.`,
    button: 'Retry and comment',
    question: 'Retry the order?',
  },
  {
    action: 'reject',
    label: 'Reject',
    help: 'Discard the result; the issue is blocked until its order is submitted again.',
    outcome: (issue) => `The result is discarded and ${issue} is blocked until its order is submitted again.`,
    button: 'Reject and comment',
    question: 'Reject the result?',
  },
];

/** Describes the decision on a settled item. */
export function describeResolution(action: string): string {
  return WORDS[action] ?? action;
}

const WORDS: Readonly<Record<string, string>> = {
  accept: 'accepted the result',
  edit: 'edited and accepted the result',
  retry: 'retried the order',
  reject: 'rejected the result',
  superseded: 'submitted a new order, which closed this item',
};
