import { isAbsolute, relative, resolve, sep } from 'node:path';
import { matchGlob, omitUndefined } from '../../base/index.js';
import { isWithin } from '../../base/files/index.js';
import { get, isRecord, type FcmpData, type PermissionOption } from '../../events/index.js';
import type { ApprovalRule, RunSpec } from '../../store/records/index.js';
import type { PermissionOutcome } from '../attempts/run-control.js';
import type { AnswerAuthor } from './agent-client.js';

export type PermissionQuestion = FcmpData<'permission.required'>;

/** An answer that its process exited too early to receive. */
export interface StoredAnswer extends AnswerAuthor {
  readonly question: PermissionQuestion;
  readonly decide: 'allow' | 'deny';
  readonly optionId: string;
}

/** The id of the option in a denial if the agent offered no option to deny. */
const NO_OPTION = 'cancelled';

/** Converts the end of a wait for a permission to an answer; without a reply, the request is denied. */
export function readAnswer(question: PermissionQuestion, reply: PermissionOutcome, waitS: number): StoredAnswer {
  if (typeof reply === 'string') {
    const isWithdrawn = reply === 'withdrawn';
    const why = isWithdrawn
      ? 'The agent withdrew the request when its process was stopped.'
      : `No answer within limits.wait_s (${waitS} s).`;
    const optionId = chooseOption(question.options, 'deny')?.id ?? NO_OPTION;
    return { question, decide: 'deny', optionId, by: 'rule', why };
  }
  const { option_id: optionId, who, why } = reply;
  const option = question.options.find(({ id }) => id === optionId);
  const decide = option?.kind.startsWith('allow') === true ? 'allow' : 'deny';
  return { question, decide, optionId, by: 'person', ...omitUndefined({ who, why }) };
}

/** The rules applied before a user is asked. */
export interface ApprovalPolicy {
  readonly permissions: NonNullable<RunSpec['permissions']>;
  /** First match wins. */
  readonly rules: readonly ApprovalRule[];
  readonly workdir: string;
  readonly runDir: string;
}

export interface Approval {
  readonly decide: ApprovalRule['decide'];
  readonly why?: string;
}

/**
 * Decides a permission request by rules; `ask` if a user has to decide. Rules apply only with `permissions: ask`; with
 * any other value, `permissions` alone determines what an agent may do.
 */
export function decideByRules(question: PermissionQuestion, kind: string | null, policy: ApprovalPolicy): Approval {
  const { permissions, rules, workdir } = policy;
  switch (permissions) {
    case 'bypass':
      return { decide: 'allow', why: 'permissions: bypass' };
    case 'safe':
    case 'workspace':
      return decideByPermissions(question, kind, policy, permissions);
    case 'ask': {
      const rule = rules.find((one) => matches(one, question, workdir));
      if (rule === undefined) return { decide: 'ask' };
      return { decide: rule.decide, ...omitUndefined({ why: rule.why }) };
    }
  }
}

const READ_KINDS: ReadonlySet<string> = new Set(['read', 'search', 'think']);

/** Tool kinds that change only files. */
const EDIT_KINDS: ReadonlySet<string> = new Set(['edit', 'delete', 'move']);

function decideByPermissions(
  question: PermissionQuestion,
  kind: string | null,
  { workdir, runDir }: ApprovalPolicy,
  permissions: 'safe' | 'workspace',
): Approval {
  const why = `permissions: ${permissions}`;
  const paths = listPaths(question).map((path) => resolve(workdir, path));
  const isInside = paths.length > 0 && paths.every((path) => isWithin(workdir, path) || isWithin(runDir, path));
  if (kind !== null && READ_KINDS.has(kind) && (paths.length === 0 || isInside)) return { decide: 'allow', why };
  const canEdit = permissions === 'workspace' && kind !== null && EDIT_KINDS.has(kind) && isInside;
  return { decide: canEdit ? 'allow' : 'deny', why };
}

function matches(
  { decide, tool, command, path }: ApprovalRule,
  question: PermissionQuestion,
  workdir: string,
): boolean {
  if (tool !== undefined && !matchGlob(tool, question.tool)) return false;
  if (command !== undefined) {
    const line = readCommand(question);
    if (line === null || !matchGlob(command, line)) return false;
    // `npm test*` must not allow `npm test; rm -rf .`: a shell operator is allowed only if the rule contains it.
    if (
      decide === 'allow' &&
      SHELL_OPERATORS.some((operator) => line.includes(operator) && !command.includes(operator))
    )
      return false;
  }
  if (path === undefined) return true;
  const paths = listPaths(question);
  if (paths.length === 0) return false;
  const isMatch = (one: string): boolean => matchPath(path, one, workdir);
  // An allow rule must cover every file; a deny rule matches if any file does.
  return decide === 'allow' ? paths.every(isMatch) : paths.some(isMatch);
}

/** Operators that join or redirect commands in a shell. */
const SHELL_OPERATORS = [';', '&', '|', '`', '$', '<', '>', '\n', '\r'] as const;

function matchPath(pattern: string, path: string, workdir: string): boolean {
  const absolute = resolve(workdir, path);
  if (isAbsolute(pattern)) return matchGlob(pattern, absolute, { segments: true });
  const inside = relative(workdir, absolute);
  if (inside === '' || !isWithin(workdir, absolute)) return false;
  return matchGlob(pattern, inside.split(sep).join('/'), { segments: true });
}

function readCommand({ input }: PermissionQuestion): string | null {
  if (!isRecord(input)) return null;
  const command = get.field(input, 'command') ?? get.field(input, 'cmd');
  if (typeof command === 'string') return command;
  return Array.isArray(command) && command.every((word) => typeof word === 'string') ? command.join(' ') : null;
}

const PATH_FIELDS = ['file_path', 'filePath', 'filepath', 'path', 'absolute_path', 'notebook_path'] as const;

/** Returns the distinct files named by a tool call. */
export function listPaths({ diff = [], locations = [], input }: PermissionQuestion): readonly string[] {
  const named = isRecord(input) ? PATH_FIELDS.flatMap((key) => get.name(input, key) ?? []) : [];
  return [...new Set([...diff.map(({ path }) => path), ...locations.map(({ path }) => path), ...named])];
}

/**
 * Returns the option for a decision, preferably a one-time option; null if the agent offers no suitable option. A
 * denial can be sent without an option, an approval cannot.
 */
export function chooseOption(options: readonly PermissionOption[], decide: 'allow' | 'deny'): PermissionOption | null {
  const kind = decide === 'allow' ? 'allow' : 'reject';
  const find = (wanted: PermissionOption['kind']) => options.find((option) => option.kind === wanted);
  return find(`${kind}_once`) ?? find(`${kind}_always`) ?? null;
}
