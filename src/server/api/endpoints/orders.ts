import { flag, name, object, oneOf, text } from '../../../base/index.js';
import {
  WORK_REQUEST_SCHEMA,
  changeSchema,
  raceSchema,
  issueSchema,
  issueState,
} from '../../../store/records/index.js';
import { created, defineEndpoints, json } from '../endpoint.js';
import { definePage, pageQuery, search } from '../shapes/lists.js';
import {
  issueDetailSchema,
  submittedOrderSchema,
  inboxResponseSchema,
  commentPreviewSchema,
  resolveRequestSchema,
  waitingSchema,
} from '../shapes/order.js';

const resolutionProblems = [
  'ITEM_NOT_FOUND',
  'CONFLICT',
  'NOTHING_TO_ACCEPT',
  'INVALID_RESOLUTION',
  'INVALID_WORK_RESULT',
  'UNKNOWN_WORKER',
] as const;

export const orderEndpoints = defineEndpoints({
  submitOrder: {
    method: 'POST',
    path: '/v1/orders',
    scope: 'run',
    summary:
      "Submits an order; its run becomes the issue's active run. A race submits multiple orders and returns the first.",
    body: WORK_REQUEST_SCHEMA,
    response: created(submittedOrderSchema),
    problems: ['INVALID_WORK_REQUEST', 'UNKNOWN_WORKER', 'FOLDER_NOT_ALLOWED', 'REQUEST_ID_REUSED'],
  },
  listIssues: {
    method: 'GET',
    path: '/v1/issues',
    scope: 'read',
    summary: 'Lists issues, newest first.',
    query: {
      ...pageQuery,
      state: issueState,
      search: { ...search, description: 'Words in the reference; case-insensitive.' },
    },
    response: json(definePage(issueSchema)),
    problems: ['INVALID_CURSOR'],
  },
  getIssue: {
    method: 'GET',
    path: '/v1/issues/{ref}',
    scope: 'read',
    summary: 'Returns one issue with its newest orders and open inbox items; the reference is percent-encoded.',
    query: {
      run_id: { ...name, description: 'Only the order with this run id, however old; by default the newest 20.' },
    },
    response: json(issueDetailSchema),
    problems: ['ISSUE_NOT_FOUND'],
  },
  getIssueDiff: {
    method: 'GET',
    path: '/v1/issues/{ref}/diff',
    scope: 'read',
    summary:
      "Returns the changes made for one of the issue's orders, file by file, committed or not; the size is limited.",
    query: { run_id: { ...name, description: "The order's run id; by default the active run." } },
    response: json(changeSchema),
    problems: ['ISSUE_NOT_FOUND'],
  },
  getIssueRace: {
    method: 'GET',
    path: '/v1/issues/{ref}/race',
    scope: 'read',
    summary: 'Returns the runs of the last race, each with its changes; without a race, the newest order.',
    response: json(raceSchema),
    problems: ['ISSUE_NOT_FOUND'],
  },
  receiveTrigger: {
    method: 'POST',
    path: '/v1/triggers/{name}',
    scope: 'none',
    summary:
      'Receives a signed webhook about an issue from GitHub (X-Hub-Signature-256) or GitLab (X-Gitlab-Token), and submits the configured order.',
    body: { type: 'object' },
    // A forge's events contain the complete issue and its repository.
    maxAnonymousBytes: 1024 * 1024,
    response: json(
      object(
        { status: oneOf(['submitted', 'ignored']) },
        { reason: text, issue_ref: name, run_id: name, repeated: flag },
      ),
    ),
    problems: ['SIGNATURE_REFUSED', 'INVALID_WORK_REQUEST', 'UNKNOWN_WORKER'],
  },
  listWaiting: {
    method: 'GET',
    path: '/v1/waiting',
    scope: 'read',
    summary:
      "Lists everything that waits for a human: agents' questions and permission requests, failing sinks, results to review. At most 200 of each.",
    response: json(waitingSchema),
  },
  listInbox: {
    method: 'GET',
    path: '/v1/inbox',
    scope: 'read',
    summary: 'Lists open inbox items, oldest first, or resolved items, newest first.',
    query: {
      ...pageQuery,
      open: { ...oneOf(['true', 'false']), description: 'true by default: only open items. false: all items.' },
      settled: { ...oneOf(['true']), description: 'Only resolved items, newest first.' },
      issue_ref: name,
    },
    response: json(definePage(inboxResponseSchema)),
    problems: ['INVALID_CURSOR'],
  },
  getInboxItem: {
    method: 'GET',
    path: '/v1/inbox/{id}',
    scope: 'read',
    summary: 'Returns one inbox item with its evidence.',
    response: json(inboxResponseSchema),
    problems: ['ITEM_NOT_FOUND'],
  },
  previewResolution: {
    method: 'POST',
    path: '/v1/inbox/{id}/preview',
    scope: 'read',
    summary: 'Returns the comment that a decision would write.',
    body: resolveRequestSchema,
    response: json(commentPreviewSchema),
    problems: resolutionProblems,
  },
  resolveItem: {
    method: 'POST',
    path: '/v1/inbox/{id}/resolve',
    scope: 'decide',
    summary: 'Resolves an inbox item: accept, reject, retry or edit.',
    body: resolveRequestSchema,
    response: json(inboxResponseSchema),
    problems: resolutionProblems,
  },
});
