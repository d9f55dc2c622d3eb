import type { InboxItem } from '../../../src/server/api/index.js';
import type { Client } from '../../../src/server/client/index.js';
import { isObject, parseStored } from '../../app/storage.js';
import { labelState } from '../../ui/parts.js';
import { omitUnset, type FieldErrors } from '../../ui/form.js';
import { getErrorMessage } from '../../../src/base/index.js';
import { t } from './texts.js';

/** The fields of an empty work result. Issue, run and status are fixed and therefore not included. */
export const EMPTY_RESULT_FORM = {
  pr: '',
  commit: '',
  /** `report`, or `n/a` for work that has no tests. */
  tests: 'report',
  testCommand: '',
  testResult: 'pass',
  testEvidence: '',
  summary: '',
  questions: '',
};

type RunRef = Pick<InboxItem, 'issue_ref' | 'run_id'>;
type JsonObject = Readonly<Record<string, unknown>>;

export type ResolveBody = Parameters<Client['resolveItem']>[0]['body'];

export const EMPTY_DECISION = {
  /** No action is preselected: it must be a choice. */
  action: '',
  why: '',
  view: 'fields',
  json: '',
  ...EMPTY_RESULT_FORM,
};

export type DecisionFields = Readonly<typeof EMPTY_DECISION>;

export type DecisionField = ResultField | 'why' | 'action';

export function findAction({ action }: DecisionFields): ResolutionAction | null {
  return ACTIONS.find((known) => known === action) ?? null;
}

/** Builds the request for a complete decision; otherwise lists what is missing. */
export function readDecision(
  fields: DecisionFields,
  item: RunRef,
  who: string,
  comments: readonly LineComment[] = [],
): Readonly<{ body: ResolveBody | null; errors: FieldErrors<DecisionField> }> {
  const action = findAction(fields);
  if (action === null) return { body: null, errors: {} };
  if (fields.why.trim() === '') return { body: null, errors: { why: t.enterAReason } };
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

export type ResolutionAction = keyof typeof t.actions;

/** The actions in the order they are offered, mildest first. */
export const ACTIONS = Object.keys(t.actions) as readonly ResolutionAction[];

/** Describes the decision on a settled item, to follow its author's name. */
export function describeResolution(action: string): string {
  return t.resolutions[action]?.[1] ?? action;
}

export function labelResolution(action: string): string {
  return t.resolutions[action]?.[0] ?? labelState(action);
}

type ResultForm = Readonly<typeof EMPTY_RESULT_FORM>;

export type ResultField = keyof ResultForm | 'json';

export const RESULT_PATHS: Readonly<Record<string, ResultField>> = {
  changes: 'pr',
  'changes.pr': 'pr',
  'changes.commit': 'commit',
  tests: 'testCommand',
  'tests.command': 'testCommand',
  'tests.result': 'testResult',
  'tests.evidence': 'testEvidence',
  summary: 'summary',
  questions: 'questions',
};

const TEST_RESULTS = ['pass', 'fail', 'n/a'];

/** Fills the form with an agent's result, strict or repaired; missing fields stay empty. */
export function fillResultForm(value: unknown): ResultForm {
  if (!isObject(value)) return EMPTY_RESULT_FORM;
  const changes = isObject(value['changes']) ? value['changes'] : {};
  const { tests } = value;
  const report = isObject(tests) ? tests : {};
  const outcome = asText(report['result']);
  return {
    pr: asText(changes['pr']),
    commit: asText(changes['commit']),
    tests: tests === 'n/a' ? 'n/a' : 'report',
    testCommand: asText(report['command']),
    // If the result is unknown, the user must choose.
    testResult: outcome === '' ? 'pass' : TEST_RESULTS.includes(outcome) ? outcome : '',
    testEvidence: asText(report['evidence']),
    summary: asText(value['summary']),
    questions: Array.isArray(value['questions']) ? value['questions'].map(asText).join('\n') : '',
  };
}

/** Builds a result from a form. Empty fields are omitted, so the server reports them as missing. */
export function buildResult(form: ResultForm, { issue_ref, run_id }: RunRef): JsonObject {
  const questions = form.questions.split('\n').filter((line) => line.trim() !== '');
  return {
    issue_ref,
    run_id,
    status: 'ok',
    changes: omitUnset({ pr: form.pr.trim(), commit: form.commit.trim() }),
    tests:
      form.tests === 'n/a'
        ? 'n/a'
        : omitUnset({ command: form.testCommand.trim(), result: form.testResult, evidence: form.testEvidence.trim() }),
    summary: form.summary,
    ...(questions.length === 0 ? {} : { questions }),
  };
}

/** Finds missing required fields, which the server would reject. */
export function findMissing(form: ResultForm): FieldErrors<ResultField> {
  const isEmpty = (field: keyof ResultForm): boolean => form[field].trim() === '';
  const isTested = form.tests !== 'n/a';
  return {
    ...(isEmpty('summary') ? { summary: t.enterASummary } : {}),
    ...(isEmpty('pr') && isEmpty('commit') ? { pr: t.enterAPullRequestOr } : {}),
    ...(isTested && isEmpty('testCommand') ? { testCommand: t.enterTheCommandOrChoose } : {}),
    ...(isTested && isEmpty('testResult') ? { testResult: t.chooseTheResult } : {}),
    ...(isTested && isEmpty('testEvidence') ? { testEvidence: t.enterTheEvidenceOrChoose } : {}),
  };
}

export function parseResult(text: string): { readonly result: JsonObject } | { readonly error: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { result: value };
    return { error: t.theJsonIsNotAn };
  } catch (error) {
    return { error: t.invalidJson(getErrorMessage(error)) };
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export type LineComment = NonNullable<Parameters<Client['resolveItem']>[0]['body']['comments']>[number];

export type LinePosition = Pick<LineComment, 'path' | 'line' | 'side'>;

export function readComments(text: string): readonly LineComment[] {
  const stored = parseStored(text);
  return Array.isArray(stored) ? stored.filter(isComment) : [];
}

function isComment(value: unknown): value is LineComment {
  if (!isObject(value)) return false;
  const { path, line, side, text } = value;
  const hasPosition = typeof path === 'string' && typeof line === 'number' && (side === 'old' || side === 'new');
  return hasPosition && typeof text === 'string';
}

/** Adds or replaces the comment on a line; an empty comment removes it. */
export function putComment(comments: readonly LineComment[], comment: LineComment): readonly LineComment[] {
  const otherComments = comments.filter((known) => !isSamePosition(known, comment));
  return comment.text === '' ? otherComments : [...otherComments, comment];
}

export function findComment(comments: readonly LineComment[], position: LinePosition): LineComment | undefined {
  return comments.find((comment) => isSamePosition(comment, position));
}

function isSamePosition(one: LinePosition, other: LinePosition): boolean {
  return one.path === other.path && one.line === other.line && one.side === other.side;
}

/** Lists the comments to send; empty ones are skipped. */
export function listSendable(comments: readonly LineComment[]): readonly LineComment[] {
  return comments.filter(({ text }) => text.trim() !== '');
}

/** Whether a result can be accepted unchanged: it needed no repairs and belongs to the item's run. */
export function isAcceptable({ result }: InboxItem['reading'], item: RunRef): boolean {
  return result !== undefined && result.issue_ref === item.issue_ref && result.run_id === item.run_id;
}
