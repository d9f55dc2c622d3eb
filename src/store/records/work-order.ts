import type { FromSchema } from '../../base/index.js';
import { ISSUE_REF_LENGTH, ISSUE_REF_PATTERN } from './issue-ref.js';
import { ROLE_LENGTH, ROLE_PATTERN, RUN_ID_LENGTH, RUN_ID_PATTERN } from './run-id.js';

const NO_CONTROL_CHARACTERS = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]+$';
const line = { type: 'string', maxLength: 500, pattern: NO_CONTROL_CHARACTERS } as const;
const issueRef = { type: 'string', maxLength: ISSUE_REF_LENGTH, pattern: ISSUE_REF_PATTERN } as const;

/**
 * Fits into an environment variable in any language: 30,000 characters are at most 120,000 bytes, and the limit is
 * 131,072.
 */
export const INSTRUCTIONS_LENGTH = 30_000;

/** The name of a wrapper, a wrapper type or a check. */
export const WORKER_NAME = { type: 'string', maxLength: 64, pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$' } as const;

/** An id that makes a request safe to repeat. */
export const REQUEST_ID = { ...line, maxLength: 200 } as const;

/** The id of a run, which also names its folders. */
const RUN_FOLDER = { type: 'string', maxLength: 64, pattern: '^[A-Za-z0-9][A-Za-z0-9-]*$' } as const;

const MAX_RACE_RUNS = 8;

const fields = {
  issue_ref: { ...issueRef, description: 'owner/repo#12, group/sub/project#12 or local#id.' },
  role: {
    type: 'string',
    maxLength: ROLE_LENGTH,
    pattern: ROLE_PATTERN,
    description: 'The role that does the work, such as backend or qa. Part of the run id.',
  },
  repo_dir: {
    type: 'string',
    maxLength: 4096,
    pattern: NO_CONTROL_CHARACTERS,
    description:
      'The absolute path of the folder the agent works in. For an order with repo: its URL, until a worker has created a worktree.',
  },
  repo: {
    type: 'string',
    maxLength: 1000,
    pattern: NO_CONTROL_CHARACTERS,
    description:
      'Instead of repo_dir: the URL of a git repository listed in repos of the configuration. The worker keeps a mirror of it and creates a worktree for the order.',
  },
  worker: {
    ...WORKER_NAME,
    description: 'The name of a wrapper in the configuration, or a built-in one such as codex-cli.',
  },
  instructions: {
    type: 'string',
    maxLength: INSTRUCTIONS_LENGTH,
    pattern: '^[^\\u0000]*$',
    description: 'What to do. Put longer specifications into spec_snapshot.',
  },
  constraints: {
    type: 'array',
    maxItems: 100,
    items: { type: 'string', minLength: 1, maxLength: 2000, pattern: '^[^\\u0000]*$' },
    description: 'Constraints that the work must respect.',
  },
  spec_ref: { ...line, description: 'The location of the specification.' },
  spec_snapshot: {
    type: 'string',
    maxLength: 500_000,
    pattern: '^[^\\u0000]*$',
    description: 'The specification as of the submission of the order.',
  },
  contracts_ref: { ...line, description: 'The location of the contracts that the work must respect.' },
  links: { type: 'array', maxItems: 100, items: line, description: 'Additional links for the agent.' },
  depends_on: {
    type: 'array',
    maxItems: 100,
    items: issueRef,
    description: 'Issues that must be in review or done before this order can start.',
  },
  request_id: {
    ...REQUEST_ID,
    description:
      'Idempotency key: the same request with the same id returns the same order; a different request with that id is refused.',
  },
  priority: {
    type: 'integer',
    minimum: -1000,
    maximum: 1000,
    description: 'Orders with a higher priority are claimed first; 0 by default.',
  },
  isolation: {
    enum: ['worktree', 'repository', 'current-branch'],
    description:
      'worktree: a separate git worktree, so your files are not touched and multiple orders can run concurrently; the default in a git repository. repository: repo_dir itself, on a new branch; a repository with uncommitted changes is refused. current-branch: the same, on the branch that is checked out. A folder without git is used itself.',
  },
  checks: {
    type: 'array',
    maxItems: 20,
    uniqueItems: true,
    items: WORKER_NAME,
    description: "Names of configured checks that Sluice runs itself; the wrapper's checks by default.",
  },
  paths: {
    type: 'array',
    minItems: 1,
    maxItems: 100,
    items: line,
    description: 'The files that a change may touch: globs relative to the repository root, such as src/**.',
  },
  expects: {
    enum: ['change', 'report'],
    description: 'change (default): a commit or a pull request. report: an answer; no commit is needed.',
  },
  race: {
    anyOf: [
      { type: 'integer', minimum: 2, maximum: MAX_RACE_RUNS },
      { type: 'array', minItems: 2, maxItems: MAX_RACE_RUNS, items: WORKER_NAME },
    ],
    description:
      'Multiple runs of the order compete, each in its own worktree: this many runs of worker, or one run of each listed wrapper. Only proven results can win; the best one is used.',
  },
} as const;

const required = ['issue_ref', 'role', 'worker', 'instructions'] as const;

/** The fields of a request whose folder has been resolved. */
const workRequest = {
  type: 'object',
  properties: fields,
  required: [...required, 'repo_dir'],
  additionalProperties: false,
} as const;

/** JSON Schema of a work request. */
export const WORK_REQUEST_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:sluice:schema:work-request:1.0',
  title: 'WorkRequest',
  ...workRequest,
  required,
} as const;

export const workOrder = {
  type: 'object',
  properties: {
    ...fields,
    run_id: {
      type: 'string',
      maxLength: RUN_ID_LENGTH,
      pattern: RUN_ID_PATTERN,
      description: 'YYYY-MM-DD-role-NNNN. Every order gets a new one, including a retry and a change of worker.',
    },
    start_commit: {
      type: 'string',
      maxLength: 64,
      pattern: '^[0-9a-f]{4,64}$',
      description:
        "For a retry: the reviewed commit that the worktree starts from, instead of the repository's current commit.",
    },
    start_run: {
      ...RUN_FOLDER,
      description: 'For a retry: the reviewed run, whose session is resumed if the engine supports it.',
    },
    start_folder: {
      ...RUN_FOLDER,
      description: 'For a retry: the run that first used the location of this worktree; consecutive retries share it.',
    },
  },
  required: [...required, 'repo_dir', 'run_id'],
  additionalProperties: false,
} as const;

/** JSON Schema of a work order; published as `sluice/schemas/work-order.json`. */
export const WORK_ORDER_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:sluice:schema:work-order:1.0',
  title: 'WorkOrder',
  ...workOrder,
} as const;

/** A work request: an order that has no run yet. With `repo`, `repo_dir` is its URL. */
export type WorkRequest = FromSchema<typeof workRequest>;

/** A work request with its run id, as an agent receives it. */
export type WorkOrder = FromSchema<typeof workOrder>;
