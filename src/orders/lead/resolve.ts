import { omitUndefined } from '../../base/index.js';
import { formatTrigger, getResolvedState, renderComment } from '../comment/render-comment.js';
import { decideFromResolution } from '../decide/decide.js';
import {
  formatRunId,
  type Decision,
  type InboxItem,
  type LineComment,
  type OrderRecord,
  type Resolution,
  type WorkOrder,
  type WorkResult,
  type Problem,
} from '../../store/records/index.js';
import { createExecution } from '../execution.js';
import type { ItemResolution, ResolveOutcome } from '../../store/ports/index.js';
import { chooseIsolation } from '../git/worktree.js';
import { continueFromReview, findCommentProblems } from '../review/review-comments.js';
import { findWrapper } from '../wrappers/wrappers.js';
import { createPreliminarySpec } from './submit.js';
import type { LeadContext } from './lead-context.js';
import { LeadError, createInvalidError } from '../orders-error.js';
import { createMessages, type CommentInLanguage } from './settle.js';
import { createValueProblem } from '../shapes/check-shape.js';
import { normalizeResult } from '../reading/normalize-result.js';
import { isFields, readResultFields } from '../reading/result-fields.js';

/** A human decision on an inbox item. */
export interface ResolveRequest {
  /** The inbox item. */
  readonly id: string;
  /** `edit` accepts the corrected result. */
  readonly action: 'accept' | 'reject' | 'retry' | 'edit';
  readonly who: string;
  readonly why: string;
  /** Only for `edit`; its keys can use either spelling (`IssueRef`, `issue_ref`). */
  readonly result?: unknown;
  /** Comments on lines of the change; recorded, shown in the issue comment, and passed to the next run on `retry`. */
  readonly comments?: readonly LineComment[];
}

/** The outcome of a decision. */
export interface ResolveResult {
  readonly item: InboxItem;
  readonly decision: Decision;
  /** The new order, for a retry. */
  readonly order?: WorkOrder;
}

/**
 * Records a human decision, with who made it and why, and queues a comment. Rejected if the run is no longer active.
 */
export async function resolveItem(context: LeadContext, request: ResolveRequest): Promise<ResolveResult> {
  const { store, clock, newId } = context;
  const now = clock();
  const { item, record, decision, resolution, comment } = await planResolution(context, request, now);
  const { id, action, who } = request;
  const { order } = record;
  const outcome = await store.resolveItem({
    id,
    now,
    resolution,
    state: getResolvedState(action),
    execution: createExecution({
      id: newId(),
      order,
      run: record.run,
      workerType: record.worker_type,
      startedAt: record.started_at,
      exitCode: item.exit_code,
      signal: item.signal,
      reading: item.reading,
      decision,
      who,
      at: resolution.at,
    }),
    outbox: createMessages(context, { issueRef: item.issue_ref, trigger: formatTrigger(order, id) }, comment),
    ...(action === 'retry' ? { retry: await createRetry(context, record, resolution, now) } : {}),
  });
  switch (outcome.status) {
    case 'resolved':
      return { item: outcome.item, decision, ...omitUndefined({ order: outcome.order?.order }) };
    case 'not_found':
      throw createUnknownItemError(id);
    case 'conflict':
      throw createConflictError(id, outcome);
  }
}

/** Returns the comment that a decision would write now, to the first sink that accepts it. Rejects the same requests as {@link resolveItem}. */
export async function previewResolution(context: LeadContext, request: ResolveRequest): Promise<string> {
  const { store, clock, wrappers, sinks } = context;
  const { item, record, comment } = await planResolution(context, request, clock());
  if (request.action === 'retry') findWrapper(record.order.worker, wrappers);
  const issue = await store.findIssue(item.issue_ref);
  const activeRunId = issue?.active_run_id ?? null;
  const { resolution } = item;
  const isActive = activeRunId === item.run_id || (item.group !== undefined && issue?.active_group === item.group);
  if (resolution !== null || !isActive) throw createConflictError(request.id, { activeRunId, resolution });
  return comment(sinks.find((sink) => sink.accepts(item.issue_ref))?.language);
}

/** Checks a request and works out what it would record. Writes nothing. */
async function planResolution(
  { store, commentTemplate }: Pick<LeadContext, 'store' | 'commentTemplate'>,
  request: ResolveRequest,
  now: number,
) {
  checkRequest(request);
  const { id, action, who, why, comments = [] } = request;
  const item = await store.findItem(id);
  const record = item === undefined ? undefined : await store.findOrder(item.issue_ref, item.run_id);
  if (item === undefined || record === undefined) throw createUnknownItemError(id);
  const decision = decideFromResolution({ action, who, why });
  const result = getResult(request, item, record.order);
  const resolution: Resolution = {
    action,
    who,
    why,
    ...omitUndefined({ result }),
    ...(comments.length === 0 ? {} : { comments }),
    decision: decision.action,
    at: new Date(now).toISOString(),
  };
  const content = {
    order: record.order,
    reading: item.reading,
    decision: item.evidence === undefined ? decision : { ...decision, evidence: item.evidence },
    resolved: { id, resolution },
  };
  const comment: CommentInLanguage = (language) => renderComment(content, commentTemplate, language);
  return { item, record, decision, resolution, comment };
}

const ACTIONS: readonly unknown[] = ['accept', 'reject', 'retry', 'edit'];
const WHO_LENGTH = 200;
const WHY_LENGTH = 5000;

/** Requests come from the command line or over HTTP, so their types are checked here. */
function checkRequest({ action, who, why, result, comments }: ResolveRequest): void {
  const problems = [
    ...(ACTIONS.includes(action) ? [] : ['action must be accept, reject, retry or edit']),
    ...(isNonEmptyString(who, WHO_LENGTH) ? [] : [`who must be a name of at most ${WHO_LENGTH} characters`]),
    ...(isNonEmptyString(why, WHY_LENGTH) ? [] : [`why must be a reason of at most ${WHY_LENGTH} characters`]),
    ...(action === 'edit' && result === undefined ? ['edit needs a corrected result'] : []),
    ...(action !== 'edit' && result !== undefined ? ['a result is allowed only with edit'] : []),
    ...findCommentProblems(comments),
  ];
  if (problems.length > 0) throw new LeadError('INVALID_RESOLUTION', `Cannot resolve: ${problems.join('; ')}.`);
}

function isNonEmptyString(value: unknown, maxLength: number): boolean {
  return typeof value === 'string' && value.trim() !== '' && value.length <= maxLength;
}

/** Returns the accepted result, or undefined if nothing is accepted. */
function getResult({ action, result, id }: ResolveRequest, item: InboxItem, order: WorkOrder): WorkResult | undefined {
  if (action === 'edit') return readResultValue(result, order);
  if (action !== 'accept') return undefined;
  const read = item.reading.result;
  if (read?.issue_ref === order.issue_ref && read.run_id === order.run_id) return read;
  throw new LeadError(
    'NOTHING_TO_ACCEPT',
    `Cannot accept the inbox item "${id}": it has no result for run "${order.run_id}". Enter one with edit, reject it, or retry.`,
  );
}

async function createRetry(
  { newId, wrappers }: LeadContext,
  record: OrderRecord,
  resolution: Resolution,
  now: number,
): Promise<NonNullable<ItemResolution['retry']>> {
  const { run_id: _, request_id: __, ...original } = record.order;
  const request = continueFromReview(original, record, resolution);
  const wrapper = findWrapper(request.worker, wrappers);
  return {
    request,
    workerType: wrapper.type,
    spec: createPreliminarySpec(request, wrapper),
    run: newId(),
    makeRunId: (number) => formatRunId(now, request.role, number),
    isolation: await chooseIsolation(request),
    baseCommit: record.base_commit,
  };
}

function createConflictError(
  id: string,
  { activeRunId, resolution }: Pick<ResolveOutcome & { readonly status: 'conflict' }, 'activeRunId' | 'resolution'>,
): LeadError {
  return new LeadError(
    'CONFLICT',
    resolution === null || resolution.action === 'superseded'
      ? `Cannot resolve the inbox item "${id}": its run was replaced (active run: "${activeRunId ?? 'none'}"). Nothing was changed; reload the inbox.`
      : `The inbox item "${id}" is already resolved: ${resolution.who} chose "${resolution.action}". Reload the inbox.`,
  );
}

function createUnknownItemError(id: string): LeadError {
  return new LeadError(
    'ITEM_NOT_FOUND',
    `Cannot find the inbox item "${id.slice(0, 100)}". \`sluice inbox --all\` lists all items.`,
  );
}

/**
 * Validates a result that a human entered for an order, in either spelling. Issue and run default to the order's. The
 * result must be acceptable: `ok`, with evidence and an explicit statement about tests.
 */
export function readResultValue(value: unknown, order: Pick<WorkOrder, 'issue_ref' | 'run_id'>): WorkResult {
  if (!isFields(value)) throw createResultError([createValueProblem('', 'must be an object')]);
  const { known, conflicts } = readResultFields(Object.entries(value));
  const fields = new Map([['issue_ref', order.issue_ref], ['run_id', order.run_id], ...known]);
  const { result, problems } = normalizeResult({ known: fields, conflicts });
  if (result === undefined || problems.length > 0) throw createResultError(problems);
  if (result.status !== 'ok')
    throw createResultError([createValueProblem('status', 'only ok can be accepted; reject it instead')]);
  if (result.issue_ref !== order.issue_ref || result.run_id !== order.run_id) {
    throw createResultError([createValueProblem('run_id', `must be the result of ${order.issue_ref} ${order.run_id}`)]);
  }
  return result;
}

function createResultError(problems: readonly Problem[]): Error {
  return createInvalidError('INVALID_WORK_RESULT', 'work result', problems);
}
