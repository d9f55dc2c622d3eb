import { basename } from 'node:path';
import { cutText } from '../../base/index.js';
import { getRepository } from '../../store/records/index.js';
import type {
  Decision,
  Evidence,
  IssueState,
  Reading,
  Resolution,
  WorkOrder,
  WorkResult,
} from '../../store/records/index.js';
import { showLine, showText } from '../plain-text.js';
import { describeLine } from '../review/review-comments.js';
import { createDefaultTemplate, fillTemplate } from './comment-template.js';
import type { CommentFields } from './comment-template.js';

export interface CommentContent {
  readonly order: WorkOrder;
  readonly reading: Reading;
  readonly decision: Decision;
  /** The inbox item and its resolution, for a human decision. */
  readonly resolved?: { readonly id: string; readonly resolution: Pick<Resolution, 'action' | 'result' | 'comments'> };
}

/**
 * Renders the comment about a decision: header lines, a blank line, then sections, or as the template says. In another
 * language, the titles and the words between values change, the header and all values do not. Missing values are `none`; only the Evidence section is omitted when empty. Text from an agent is quoted or on one line, so it
 * cannot forge a header or a section. The comment mentions no user and loads no image; its only link is the URL of the
 * pull request.
 *
 * @example
 * renderComment({ order, reading, decision }).split('\n')[0] // 'Role: backend'
 */
export function renderComment(content: CommentContent, template?: string, language: 'en' | 'zh' = 'en'): string {
  const { order, reading } = content;
  const words = COMMENT_WORDS[language];
  const usedTemplate = template ?? createDefaultTemplate(words.titles);
  const result = getMatchingResult(content);
  const agentText = (result?.summary ?? reading.answer ?? '').replaceAll(/\r\n?/g, '\n').trim();
  const frame = fillTemplate(usedTemplate, listFields(content, result, '', words));
  if (agentText === '') return frame;
  const fullLength = result === undefined ? reading.answer_length : undefined;
  const describeOmitted = (count: number): string => words.moreCharacters(count, order.run_id);
  const quoted = quote(agentText, MAX_COMMENT_LENGTH - frame.length, describeOmitted, fullLength);
  return fillTemplate(usedTemplate, listFields(content, result, quoted, words));
}

/** Lists the fields of a comment with a quoted text from the agent, which may be empty. */
function listFields(
  content: CommentContent,
  result: WorkResult | undefined,
  quoted: string,
  words: CommentWords,
): CommentFields {
  const { order, decision, resolved } = content;
  const header = {
    Role: order.role,
    Repo: getRepository(order.issue_ref) ?? basename(order.repo_dir),
    IssueRef: order.issue_ref,
    RunId: order.run_id,
    SpecRef: order.spec_ref,
    ContractsRef: order.contracts_ref,
    Action: chooseAction(decision, resolved),
    Status: resolved === undefined ? getIssueState(decision) : getResolvedState(resolved.resolution.action),
    ResultCode: decision.result_code,
    ReadUpTo: undefined,
    Trigger: formatTrigger(order, resolved?.id),
  };
  const values = Object.fromEntries(Object.entries(header).map(([key, value]) => [key, showValue(value)]));
  return {
    ...values,
    Summary: [...explainDecision(content, words), quoted].filter((part) => part !== '').join('\n\n'),
    Changes: `- PR: ${renderUrl(result?.changes.pr)}\n${renderFields({ Commit: findCommit(content, result) })}`,
    Tests: renderFields(listTestFields(result)),
    Evidence: decision.evidence?.length ? renderEvidence(decision.evidence, words) : undefined,
    BlockedBy: renderList(result?.blocked_by, words),
    OpenQuestions: renderList(result?.questions, words),
    Next: toLine(decision.next),
  };
}

/** Formats the trigger of a comment, which is also its key: the run, or the inbox item that was resolved. */
export function formatTrigger(order: Pick<WorkOrder, 'run_id'>, itemId?: string): string {
  return itemId === undefined ? `workrun:${order.run_id}` : `resolve:${itemId}`;
}

function chooseAction({ action }: Decision, resolved: CommentContent['resolved']): string {
  if (resolved !== undefined) return RESOLVED[resolved.resolution.action].action;
  return action === 'advance' ? 'update' : 'blocked';
}

/** Returns the result if it names this run; a result that names another run is not shown. */
function getMatchingResult({ order, reading, resolved }: CommentContent): WorkResult | undefined {
  const result = resolved?.resolution.result ?? reading.result;
  return result?.run_id === order.run_id && result.issue_ref === order.issue_ref ? result : undefined;
}

/** Omits a commit that was not found or not checked, unless a human entered the result. */
function findCommit({ reading, resolved }: CommentContent, result: WorkResult | undefined): string | undefined {
  const commit = result?.changes.commit;
  const codes = [...reading.problems, ...(reading.notices ?? [])].map(({ code }) => code);
  const isUnverified = codes.includes('COMMIT_NOT_FOUND') || codes.includes('COMMIT_UNCHECKED');
  if (commit === undefined || (isUnverified && resolved?.resolution.result === undefined)) return undefined;
  return `git:${commit}`;
}

/** Lists the reason and the review comments. */
function explainDecision({ decision, resolved }: CommentContent, words: CommentWords): readonly string[] {
  const comments = resolved?.resolution.comments ?? [];
  const lines = comments.map((comment) => `${describeLine(comment)}: ${comment.text}`);
  const outcome = words.outcome?.[resolved?.resolution.action ?? decision.action] ?? '';
  return [outcome, toLine(decision.reason), comments.length === 0 ? '' : renderList(lines, words)];
}

function listTestFields(result: WorkResult | undefined): Readonly<Record<string, string | undefined>> {
  if (result?.tests === 'n/a') return { Command: undefined, Result: 'n/a', Evidence: undefined };
  const report = result?.tests;
  return { Command: report?.command, Result: report && TEST_RESULT_LABELS[report.result], Evidence: report?.evidence };
}

const TEST_RESULT_LABELS = {
  pass: 'pass',
  fail: 'fail',
  'n/a': 'n/a',
  not_run: 'not run',
  not_recognised: 'result not recognised',
} as const;

function renderFields(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .map(([key, value]) => `- ${key}: ${showValue(value)}`)
    .join('\n');
}

/** Evidence groups, in display order. */
const GROUPS: readonly (readonly [group: EvidenceGroup, matches: (evidence: Evidence) => boolean])[] = [
  ['contradicted', ({ verdict }) => verdict === 'contradicted'],
  ['verified', ({ verdict }) => verdict === 'confirmed'],
  ['reported', ({ verdict, by }) => verdict === 'unchecked' && by === 'worker'],
  ['unchecked', ({ verdict, by }) => verdict === 'unchecked' && by === 'sluice'],
];

/** Renders verified and merely reported facts in separate lists, each fact with the run that shows it. */
function renderEvidence(evidence: readonly Evidence[], words: CommentWords): string {
  const groups = GROUPS.flatMap(([group, matches]) => {
    const entries = evidence.filter(matches);
    if (entries.length === 0) return [];
    const lines = entries.map(
      ({ claim, detail, run }) => `${claim}: ${detail}${run === undefined ? '' : words.inRun(run)}`,
    );
    return [`${words.evidence[group]}:\n${renderList(lines, words)}`];
  });
  return groups.join('\n\n');
}

const MAX_LIST_LENGTH = 20;

function renderList(entries: readonly string[] | undefined, words: CommentWords): string {
  if (entries === undefined || entries.length === 0) return 'none';
  const items = entries.slice(0, MAX_LIST_LENGTH).map((entry) => `- ${showValue(entry)}`);
  return [
    ...items,
    ...(entries.length > MAX_LIST_LENGTH ? [`- ${words.more(entries.length - MAX_LIST_LENGTH)}`] : []),
  ].join('\n');
}

const LINE_LENGTH = 500;
/** A forge accepts 65,536 characters per comment; the marker of a delivery and the note about a cut need some of them. */
const MAX_COMMENT_LENGTH = 65_000;

/** Puts text from any source on one line of a comment. */
function toLine(text: string): string {
  return escapeMarkup(showLine(text, LINE_LENGTH));
}

/** Shows a value on one line, or `none` if it is missing. */
function showValue(value: string | undefined): string {
  const line = toLine(value ?? '');
  return line === '' ? 'none' : line;
}

/**
 * Quotes an agent's text: every line is prefixed, so none can look like a header or a section. Text that does not fit is
 * cut at the end of a line, with a note. `fullLength`: its length before it was stored, if it was cut then.
 */
function quote(
  text: string,
  maxLength: number,
  describeOmitted: (count: number) => string,
  fullLength = text.length,
): string {
  const rows: string[] = [];
  let remaining = maxLength;
  let shown = 0;
  for (const line of text.split('\n')) {
    const row = `> ${escapeMarkup(showText(line, maxLength))}`.trimEnd();
    if (row.length >= remaining) {
      // Only a single line that is too long by itself is cut in the middle.
      if (rows.length === 0) {
        const part = cutText(line, Math.floor(remaining / 2));
        rows.push(`> ${escapeMarkup(showText(part, maxLength))}`);
        shown = part.length;
      }
      break;
    }
    rows.push(row);
    remaining -= row.length + 1;
    shown += line.length + 1;
  }
  const omitted = fullLength - Math.min(shown, text.length);
  const note = omitted > 0 ? [`> ${describeOmitted(omitted)}`] : [];
  return [...rows, ...note].join('\n');
}

/** Returns a pull request's URL unescaped, so it stays a link, if it is a plain web address. */
function renderUrl(value: string | undefined): string {
  const line = showLine(value ?? '', LINE_LENGTH);
  return /^https?:\/\/[\w.:-]+(?:\/[\w./#?=&%+~-]*)?$/.test(line) ? line : showValue(value);
}

/**
 * Escapes markup. Tags would be rendered as HTML, and an HTML comment could imitate a delivery marker. A mention would
 * notify people, an image would be loaded by everyone who reads the comment, and a link could lead anywhere.
 */
function escapeMarkup(text: string): string {
  return text
    .replaceAll(/<(?=[A-Za-z/!?])/g, '&lt;')
    .replaceAll(/(?<![\w.])@(?=\w)/g, FULL_WIDTH_AT)
    .replaceAll(/\](?=\s*[([:])/g, String.raw`\]`)
    .replaceAll(/:\/\/(?=\S)/g, String.raw`:\//`)
    .replaceAll(/(?<![\w/.])www\.(?=\w)/gi, (www) => `${www.slice(0, -1)}\\.`);
}

/** Looks like `@`, but forges do not treat it as the start of a mention. */
const FULL_WIDTH_AT = '\uff20';

/**
 * Returns the issue state after a decision, or undefined if it does not change. Never `done`: only a human sets that.
 */
export function getIssueState({ action }: Pick<Decision, 'action'>): IssueState | undefined {
  return action === 'advance' ? 'review' : action === 'archive' ? undefined : action;
}

/** Returns the issue state after a human decision. */
export function getResolvedState(action: Resolution['action']): IssueState {
  return RESOLVED[action].state;
}

/** The name of each human decision in the header of a comment, and the issue state after it. */
const RESOLVED = {
  accept: { action: 'accept', state: 'review' },
  edit: { action: 'accept', state: 'review' },
  reject: { action: 'reject', state: 'blocked' },
  retry: { action: 'unblock', state: 'doing' },
} as const;

/** The words of comments in one language. Lines such as `RunId: …` are the same in all, because programs read them. */
interface CommentWords {
  /** The titles of the sections that differ from their names. */
  readonly titles: Readonly<Record<string, string>>;
  readonly evidence: Readonly<Record<EvidenceGroup, string>>;
  readonly inRun: (run: string) => string;
  readonly more: (count: number) => string;
  readonly moreCharacters: (count: number, run: string) => string;
  /** The sentence before the reason, which is in English; none if the reason says it. */
  readonly outcome?: Readonly<Record<Decision['action'] | Resolution['action'], string>>;
}

/** Unchecked evidence has two groups: the agent's claims, and checks that Sluice could not run. */
type EvidenceGroup = 'contradicted' | 'verified' | 'reported' | 'unchecked';

const ENGLISH: CommentWords = {
  titles: {},
  evidence: {
    contradicted: 'Contradicted',
    verified: 'Verified by Sluice',
    reported: 'Reported, not verified',
    unchecked: 'Not checked',
  },
  inRun: (run) => ` (run ${run})`,
  more: (count) => `and ${count} more`,
  moreCharacters: (count, run) => `… ${count} more characters in the result of run ${run}`,
};

const CHINESE: CommentWords = {
  titles: {
    Summary: '摘要',
    Changes: '改动',
    Tests: '测试',
    Evidence: '证据',
    BlockedBy: '受阻于',
    OpenQuestions: '待解决的问题',
    Next: '下一步',
  },
  evidence: {
    contradicted: '不符',
    verified: '经 Sluice 核实',
    reported: '智能体所报，未核实',
    unchecked: '未检查',
  },
  inRun: (run) => `（运行 ${run}）`,
  more: (count) => `还有 ${count} 项`,
  moreCharacters: (count, run) => `… 运行 ${run} 的结果里还有 ${count} 个字符`,
  outcome: {
    advance: '工单推进到 review。',
    'needs-human': '需要人来决定。',
    blocked: 'issue 受阻。',
    archive: '结果已归档。',
    accept: '结果被接受。',
    edit: '结果修改后被接受。',
    reject: '结果被拒绝。',
    retry: '工单重试。',
  },
};

/** The words of each language. */
const COMMENT_WORDS = { en: ENGLISH, zh: CHINESE };
