import { ENDPOINTS, type Scope } from '../api/index.js';
import { SluiceError, arrayOf, name, object, omitUndefined, orNull, text, timestamp } from '../../base/index.js';
import type { FromSchema, Schema } from '../../base/index.js';
import { fromRecordSchema } from '../../json/schema/index.js';
import { WORK_REQUEST_SCHEMA, resolutionAction } from '../../store/records/index.js';
import { readEventPage, eventPageSchema, describeRun, runReportSchema, waitForRun } from './run-report.js';
import type { Client } from '../client/index.js';

/** Longer than any agent's answer, and short enough for one message. */
const MAX_TEXT = 4 * 1024 * 1024;
/** Most clients time out a call after a minute. To wait longer, they call the tool again. */
const MAX_WAIT_S = 50;

const runId = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  description: 'The run id: "run" in the result of delegate_order.',
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
    'Extract JSON from text, repair its syntax and validate it against a JSON Schema. No content is added: "repairs" lists every change. If there is no valid JSON, the status is "failed", with the reasons.',
  scope: 'read',
  isReadOnly: true,
  input: object(
    { text: { type: 'string', maxLength: MAX_TEXT, description: 'The text to parse.' } },
    {
      schema: parseInput.schema,
      profile: {
        ...parseInput.profile,
        description:
          'default: JSON anywhere in the text, with all repairs; tagged: the last <json> block; generic: valid JSON only; unified: one object, without repairs except for control characters.',
      },
      allow_partial: { ...parseInput.allow_partial, description: 'Accept a truncated value.' },
      align: { ...parseInput.align, description: 'Convert near misses, such as "3" to 3; needs a schema.' },
      ambiguous: parseInput.ambiguous,
    },
  ),
  output: ENDPOINTS.parse.response.schema,
  call: async (client, body, signal) => client.parse({ body, signal }),
});

const offer = ENDPOINTS.listEngines.response.schema.properties;

const listCapabilities = defineTool({
  name: 'list_capabilities',
  title: 'List wrappers and folders',
  description:
    'List what an order may name: the wrappers that start an agent ("worker"), folders (including their subfolders) and checks. Call this before delegate_order.',
  scope: 'read',
  isReadOnly: true,
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
    'Submit work on an issue to another agent and immediately return the ids of the order and its run; then call wait_for_run or follow_run with "run". Sluice checks the result: it advances the issue, or waits in the inbox for a human. With a "request_id", the call is safe to repeat.',
  scope: 'run',
  isReadOnly: false,
  input: {
    type: 'object',
    properties: WORK_REQUEST_SCHEMA.properties,
    required: WORK_REQUEST_SCHEMA.required,
    additionalProperties: false,
  },
  output: object({
    issue_ref: name,
    run_id: { ...name, description: 'The human-readable order id.' },
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
  description: `Wait until a run has ended or waits for a human, at most ${MAX_WAIT_S} seconds. If it has not ended, "done" is false: call this again.`,
  scope: 'read',
  isReadOnly: true,
  input: object(
    { run: runId },
    { timeout_s: { ...waitSeconds, description: `How many seconds to wait; 30 by default, at most ${MAX_WAIT_S}.` } },
  ),
  output: runReportSchema,
  call: async (client, { run, timeout_s = 30 }, signal) =>
    waitForRun(client, run, { timeoutMs: timeout_s * 1000, signal }),
});

const readResult = defineTool({
  name: 'read_result',
  title: 'Read a result',
  description:
    'Return the state of a run and, once it has ended, its result: the validated value or the reason why it is missing, usage, and for an order the decision.',
  scope: 'read',
  isReadOnly: true,
  input: object({ run: runId }),
  output: runReportSchema,
  call: async (client, { run }, signal) => describeRun(client, run, signal),
});

const followRun = defineTool({
  name: 'follow_run',
  title: 'Follow a run',
  description:
    'Return a page of run events, oldest first: messages, tool calls, questions, how it ended. To continue, pass the "cursor" of the previous page. If "done" is true, there are no more events.',
  scope: 'read',
  isReadOnly: true,
  input: object(
    { run: runId },
    {
      cursor: {
        type: 'string',
        pattern: '^\\d{1,15}$',
        description: '"cursor" of the previous page; by default from the start.',
      },
      limit: { type: 'integer', minimum: 1, maximum: 200, description: 'Maximum number of events; 50 by default.' },
      wait_s: {
        ...waitSeconds,
        description: 'How many seconds to wait if there is no new event yet; 0 by default.',
      },
    },
  ),
  output: eventPageSchema,
  call: async (client, { run, cursor: after = '0', limit = 50, wait_s = 0 }, signal) =>
    readEventPage(client, run, { after: Number(after), limit, waitMs: wait_s * 1000, signal }),
});

const listInbox = defineTool({
  name: 'list_inbox',
  title: 'List the inbox',
  description:
    'List results that wait for a human decision, oldest first. Only a human decides, in the console or with "sluice resolve"; report to the user what is waiting.',
  scope: 'read',
  isReadOnly: true,
  input: object(
    {},
    {
      issue_ref: { ...issueRef, description: 'Only this issue.' },
      limit: { type: 'integer', minimum: 1, maximum: 100, description: 'Maximum number of items; 20 by default.' },
      cursor: { ...cursor, description: '"next_cursor" of the previous page.' },
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
    "Resolve an inbox item: accept, reject or retry. Your token allows this. The decision is recorded with the token's name and your reason.",
  scope: 'decide',
  isReadOnly: false,
  input: object({
    id: { type: 'string', minLength: 1, maxLength: 200, description: 'The item id, from list_inbox.' },
    action: {
      enum: ['accept', 'reject', 'retry'],
      description: 'accept: the issue goes to review; reject: it becomes blocked; retry: start a new run.',
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

/** All tools, in the order `tools/list` returns them. */
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

interface ToolDefinition<Input extends Schema, Output extends Schema> {
  readonly name: string;
  readonly title: string;
  /** A description for the model: what the tool does and returns, and what to call next. */
  readonly description: string;
  /** The scope that the token needs. `decide` is only available with a token that was set explicitly. */
  readonly scope: Exclude<Scope, 'none'>;
  readonly input: Input;
  readonly output: Output;
  readonly isReadOnly: boolean;
  call(client: Client, input: FromSchema<Input>, signal: AbortSignal): Promise<FromSchema<Output>>;
}

export interface McpTool extends Omit<ToolDefinition<Schema, Schema>, 'call'> {
  /** Checks the arguments; throws `MCP_INVALID_ARGUMENTS`. */
  call(client: Client, input: unknown, signal: AbortSignal): Promise<object>;
}

const MAX_ISSUES = 10;

function defineTool<const Input extends Schema, const Output extends Schema>(
  tool: ToolDefinition<Input, Output>,
): McpTool {
  const schema = fromRecordSchema<FromSchema<Input>>(tool.input);
  return {
    ...tool,
    async call(client, input, signal) {
      const checked = await schema['~standard'].validate(input);
      if (checked.issues === undefined) return (await tool.call(client, checked.value, signal)) as object;
      const issues = checked.issues.slice(0, MAX_ISSUES).map(({ path = [], message }) => {
        const property = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
        return property === '' ? message : `${property}: ${message}`;
      });
      throw new SluiceError('MCP_INVALID_ARGUMENTS', `The arguments are invalid: ${issues.join('; ')}. Correct them.`);
    },
  };
}
