import type { Client } from '../../../src/client/index.js';
import { EMPTY_RESULT_FORM, findMissing, parseResult, buildResult } from './result-form.js';
import type { ResultField } from './result-form.js';
import { labelState } from '../../ui/badge.js';
import { listSendable } from './line-comments.js';
import type { LineComment } from './line-comments.js';

/** The body of `POST /v1/inbox/{id}/resolve`. */
export type ResolveBody = Parameters<Client['resolveItem']>[0]['body'];

/** The fields of an empty decision. */
export const EMPTY_DECISION = {
  /** No action is preselected, because every decision is final. */
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

/** Returns the chosen action, or null. */
export function findAction({ action }: DecisionFields): ResolutionAction | null {
  return ACTIONS.find((texts) => texts.action === action)?.action ?? null;
}

/** Builds the request for a complete decision; otherwise lists what is missing. */
export function readDecision(
  fields: DecisionFields,
  item: { readonly issue_ref: string; readonly run_id: string },
  who: string,
  comments: readonly LineComment[] = [],
): { readonly body: ResolveBody | null; readonly errors: Readonly<Partial<Record<DecisionField, string>>> } {
  const action = findAction(fields);
  if (action === null) return { body: null, errors: {} };
  if (fields.why.trim() === '') return { body: null, errors: { why: 'Enter a reason. It is quoted in the comment.' } };
  const sendable = listSendable(comments);
  const base = {
    action,
    why: fields.why.trim(),
    ...(who.trim() === '' ? {} : { who: who.trim() }),
    ...(sendable.length === 0 ? {} : { comments: sendable }),
  };
  if (action !== 'edit') return { body: base, errors: {} };
  if (fields.view !== 'json') {
    const errors = findMissing(fields);
    const isComplete = Object.keys(errors).length === 0;
    return { body: isComplete ? { ...base, result: buildResult(fields, item) } : null, errors };
  }
  const parsed = parseResult(fields.json);
  if ('error' in parsed) return { body: null, errors: { json: parsed.error } };
  return { body: { ...base, result: parsed.result }, errors: {} };
}

/** The possible actions on an item. */
type ResolutionAction = 'accept' | 'edit' | 'retry' | 'reject';

/** An action's labels and descriptions. */
export interface ActionTexts {
  readonly action: ResolutionAction;
  readonly label: string;
  /** Explains the action. */
  readonly help: string;
  /** The effect on the issue. */
  readonly outcome: (issue: string) => string;
  /** The submit button's label. */
  readonly button: string;
  /** The confirmation question. */
  readonly question: string;
}

/** The actions in the order they are offered, mildest first. */
export const ACTIONS: readonly ActionTexts[] = [
  {
    action: 'accept',
    label: 'Accept',
    help: 'Use the result unchanged; the issue moves to review.',
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
    help: 'Submit the same order again, as a new run. This run is archived.',
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

/** Describes the decision on a settled item, to follow its author's name. */
export function describeResolution(action: string): string {
  return RESOLUTIONS[action]?.sentence ?? action;
}

/** Returns the label of the decision on a settled item. */
export function labelResolution(action: string): string {
  return RESOLUTIONS[action]?.label ?? labelState(action);
}

const RESOLUTIONS: Readonly<Record<string, { readonly label: string; readonly sentence: string }>> = {
  accept: { label: 'Accepted', sentence: 'accepted the result' },
  edit: { label: 'Edited and accepted', sentence: 'edited and accepted the result' },
  retry: { label: 'Retried', sentence: 'retried the order' },
  reject: { label: 'Rejected', sentence: 'rejected the result' },
  superseded: { label: 'Superseded', sentence: 'submitted a new order, which closed this item' },
};
