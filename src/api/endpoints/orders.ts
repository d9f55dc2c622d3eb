import { flag, name, object, oneOf, text } from '../../base/index.js';
import { WORK_REQUEST_SCHEMA, changeSchema, raceSchema, issueSchema, issueState } from '../../records/index.js';
import { created, endpoint, json } from '../endpoint.js';
import { listOf, pageQuery } from '../shapes/lists.js';
import { issueDetailSchema, submittedOrderSchema } from '../shapes/order.js';
import { search } from './parameters.js';

export const submitOrder = endpoint({
  method: 'POST',
  path: '/v1/orders',
  scope: 'run',
  summary:
    'Submits an order; its run becomes the active one of the issue. A race submits several, the answer is the first.',
  body: WORK_REQUEST_SCHEMA,
  answer: created(submittedOrderSchema),
  problems: ['INVALID_WORK_REQUEST', 'UNKNOWN_WORKER', 'FOLDER_NOT_ALLOWED', 'REQUEST_ID_REUSED'],
});

export const listIssues = endpoint({
  method: 'GET',
  path: '/v1/issues',
  scope: 'read',
  summary: 'Lists issues, newest first.',
  query: {
    ...pageQuery,
    state: issueState,
    search: { ...search, description: 'Words of the reference; case-insensitive.' },
  },
  answer: json(listOf(issueSchema)),
  problems: ['INVALID_CURSOR'],
});

export const getIssue = endpoint({
  method: 'GET',
  path: '/v1/issues/{ref}',
  scope: 'read',
  summary: 'One issue with its orders and open inbox items; the reference is percent-encoded.',
  answer: json(issueDetailSchema),
  problems: ['ISSUE_NOT_FOUND'],
});

export const getIssueDiff = endpoint({
  method: 'GET',
  path: '/v1/issues/{ref}/diff',
  scope: 'read',
  summary: 'What an order of the issue has changed, file by file, committed or not; bounded.',
  query: { run_id: { ...name, description: 'Which order; that of the active run by default.' } },
  answer: json(changeSchema),
  problems: ['ISSUE_NOT_FOUND'],
});

export const getIssueRace = endpoint({
  method: 'GET',
  path: '/v1/issues/{ref}/race',
  scope: 'read',
  summary: 'The runs of the last race with what each has changed, side by side; without a race, the newest order.',
  answer: json(raceSchema),
  problems: ['ISSUE_NOT_FOUND'],
});

export const receiveTrigger = endpoint({
  method: 'POST',
  path: '/v1/triggers/{name}',
  scope: 'none',
  summary:
    'Receives a signed webhook of GitHub (X-Hub-Signature-256) or GitLab (X-Gitlab-Token) about an issue, and submits the order that the configuration maps it to.',
  body: { type: 'object' },
  answer: json(
    object(
      { status: oneOf(['submitted', 'ignored']) },
      { reason: text, issue_ref: name, run_id: name, repeated: flag },
    ),
  ),
  problems: ['SIGNATURE_REFUSED', 'INVALID_WORK_REQUEST', 'UNKNOWN_WORKER'],
});
