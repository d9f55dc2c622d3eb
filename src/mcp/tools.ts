import { ENDPOINTS } from '../api/index.js';
import { arrayOf, name, object, omitUndefined, orNull, text, timestamp } from '../base/index.js';
import { WORK_REQUEST_SCHEMA, resolutionAction } from '../records/index.js';
import { followPage, followPageSchema } from './follow-page.js';
import { describeRun, runReportSchema, waitForRun } from './run-report.js';
import { defineTool } from './tool.js';
import type { McpTool } from './tool.js';

/** More text than any agent prints as an answer; a request has to fit into one message. */
const MAX_TEXT = 4 * 1024 * 1024;
/** Most clients end a call after a minute. What takes longer is asked for again, by its id. */
const MAX_WAIT_S = 50;

const runId = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  description: 'The id of the run, as delegate_order returns it in "run".',
} as const;
const waitSeconds = {
  type: 'number',
  minimum: 0,
  maximum: MAX_WAIT_S,
} as const;
const issueRef = { type: 'string', minLength: 1, maxLength: 500 } as const;
const cursor = { type: 'string', minLength: 1, maxLength: 500 } as const;

const parseInput = ENDPOINTS.parse.body.properties;

const parse = defineTool({
  name: 'parse',
  title: 'Parse agent output',
  description:
    'Extract JSON from a text, repair its syntax and validate it against a JSON Schema. Nothing is invented: "repairs" lists every change, and a text without valid JSON has status "failed" with the reasons.',
  scope: 'read',
  readsOnly: true,
  input: object(
    { text: { type: 'string', maxLength: MAX_TEXT, description: 'The text to read.' } },
    {
      schema: parseInput.schema,
      profile: {
        ...parseInput.profile,
        description:
          'default: anywhere in the text; tagged: the last <json> block; generic: without a schema; unified: plain JSON first.',
      },
      allow_partial: { ...parseInput.allow_partial, description: 'Accept a truncated value.' },
      align: { ...parseInput.align, description: 'Convert near misses, such as "3" for 3; needs a schema.' },
      prefer: parseInput.prefer,
    },
  ),
  output: ENDPOINTS.parse.answer.schema,
  call: async (client, body, signal) => client.parse({ body, signal }),
});

const offer = ENDPOINTS.listEngines.answer.schema.properties;

const listCapabilities = defineTool({
  name: 'list_capabilities',
  title: 'List workers and folders',
  description:
    'List what an order may use: workers, folders (and everything below them), checks. Call it before delegate_order.',
  scope: 'read',
  readsOnly: true,
  input: object({}),
  output: object({ workers: offer.workers, roots: offer.roots, checks: offer.checks }),
  async call(client, _, signal) {
    const { workers, roots, checks } = await client.listEngines({ signal });
    return { workers, roots, checks };
  },
});

const delegateOrder = defineTool({
  name: 'delegate_order',
  title: 'Delegate an order',
  description:
    'Submit work on an issue to another agent and return its ids at once; then call wait_for_run or follow_run with "run". The result is checked by Sluice: it advances the issue, or goes to the inbox of a person. A "request_id" makes it safe to repeat.',
  scope: 'run',
  readsOnly: false,
  input: {
    type: 'object',
    properties: WORK_REQUEST_SCHEMA.properties,
    required: WORK_REQUEST_SCHEMA.required,
    additionalProperties: false,
  },
  output: object({
    issue_ref: name,
    run_id: { ...name, description: 'The id of the order, for people.' },
    run: runId,
    worker: name,
    state: name,
    rivals: { ...arrayOf(object({ run: name, worker: name })), description: 'The other runs of a race.' },
  }),
  async call(client, body, signal) {
    const { issue_ref, run_id, run, worker, state, rivals = [] } = await client.submitOrder({ body, signal });
    return {
      issue_ref,
      run_id,
      run,
      worker,
      state,
      rivals: rivals.map((rival) => ({ run: rival.run, worker: rival.worker })),
    };
  },
});

const waitForRunTool = defineTool({
  name: 'wait_for_run',
  title: 'Wait for a run',
  description: `Wait until a run has ended or waits for a person, at most ${MAX_WAIT_S} seconds. "done" is false if it has not ended: call it again.`,
  scope: 'read',
  readsOnly: true,
  input: object(
    { run: runId },
    { timeout_s: { ...waitSeconds, description: `How long to wait; 30 seconds by default, at most ${MAX_WAIT_S}.` } },
  ),
  output: runReportSchema,
  call: async (client, { run, timeout_s = 30 }, signal) =>
    waitForRun(client, run, { timeoutMs: timeout_s * 1000, signal }),
});

const readResult = defineTool({
  name: 'read_result',
  title: 'Read a result',
  description:
    'The state of a run and, once it has ended, its result: the validated value or why there is none, usage, and for an order what was decided.',
  scope: 'read',
  readsOnly: true,
  input: object({ run: runId }),
  output: runReportSchema,
  call: async (client, { run }, signal) => describeRun(client, run, signal),
});

const followRun = defineTool({
  name: 'follow_run',
  title: 'Follow a run',
  description:
    'A page of the events of a run, oldest first: messages, tool calls, questions, how it ended. Pass "cursor" of the last page to continue; "done" says that no more will come.',
  scope: 'read',
  readsOnly: true,
  input: object(
    { run: runId },
    {
      cursor: {
        type: 'string',
        pattern: '^\\d{1,15}$',
        description: 'From the last page; without it, from the beginning.',
      },
      limit: { type: 'integer', minimum: 1, maximum: 200, description: 'How many events at most; 50 by default.' },
      wait_s: {
        ...waitSeconds,
        description: 'How long to wait for the next event if there is none yet; 0 by default.',
      },
    },
  ),
  output: followPageSchema,
  call: async (client, { run, cursor: after = '0', limit = 50, wait_s = 0 }, signal) =>
    followPage(client, run, { after: Number(after), limit, waitMs: wait_s * 1000, signal }),
});

const listInbox = defineTool({
  name: 'list_inbox',
  title: 'List the inbox',
  description:
    'Results that wait for the decision of a person, oldest first. Only a person decides, in the console or with "sluice resolve"; report what is waiting.',
  scope: 'read',
  readsOnly: true,
  input: object(
    {},
    {
      issue_ref: { ...issueRef, description: 'Only this issue.' },
      limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many items at most; 20 by default.' },
      cursor: { ...cursor, description: '"next_cursor" of the last page.' },
    },
  ),
  output: object({
    items: arrayOf(
      object({
        id: name,
        issue_ref: name,
        run_id: name,
        run: name,
        reason: text,
        next: text,
        result_code: name,
        created_at: timestamp,
      }),
    ),
    next_cursor: orNull(name),
  }),
  async call(client, { issue_ref, limit = 20, cursor: after }, signal) {
    const query = { limit, ...omitUndefined({ issue_ref, cursor: after }) };
    const { items, next_cursor } = await client.listInbox({ query, signal });
    return {
      items: items.map(({ id, issue_ref: ref, run_id, run, reason, next, result_code, created_at }) => {
        return { id, issue_ref: ref, run_id, run, reason, next, result_code, created_at };
      }),
      next_cursor,
    };
  },
});

const resolveItem = defineTool({
  name: 'resolve_item',
  title: 'Resolve an inbox item',
  description:
    'Resolve an inbox item: accept, reject or retry. Your token grants this; it is recorded under the name of the token, with your reason.',
  scope: 'decide',
  readsOnly: false,
  input: object({
    id: { type: 'string', minLength: 1, maxLength: 200, description: 'The id of the item, from list_inbox.' },
    action: {
      enum: ['accept', 'reject', 'retry'],
      description: 'accept: to review; reject: blocked; retry: a new run.',
    },
    why: { type: 'string', minLength: 1, maxLength: 4000, description: 'The reason, for the record.' },
  }),
  output: object({ id: name, issue_ref: name, action: resolutionAction, new_run_id: orNull(name) }),
  async call(client, { id, ...body }, signal) {
    const { issue_ref, resolution } = await client.resolveItem({ id, body, signal });
    const new_run_id = resolution?.new_run_id ?? null;
    return { id, issue_ref, action: body.action, new_run_id };
  },
});

/** All tools, in the order of the list. */
export const MCP_TOOLS: readonly McpTool[] = [
  parse,
  listCapabilities,
  delegateOrder,
  waitForRunTool,
  readResult,
  followRun,
  listInbox,
  resolveItem,
];
