import { basename } from 'node:path';
import { getRepository } from '../../records/index.js';
import type { Decision, Evidence, Reading, Resolution, WorkOrder, WorkResult } from '../../records/index.js';
import { showLine, showText } from '../plain-text.js';
import { describePlace } from '../review/review-comments.js';
import { getIssueState, getResolvedState } from './issue-state.js';

/** The content of a comment. */
export interface CommentContent {
  readonly order: WorkOrder;
  readonly reading: Reading;
  readonly decision: Decision;
  /** The inbox item and what a person made of it, if a person decided. */
  readonly resolved?: { readonly id: string; readonly resolution: Pick<Resolution, 'action' | 'result' | 'comments'> };
}

/**
 * Renders the comment of a decision: header lines, a blank line, sections, always the same ones in the same order, with
 * `none` for absent values; one about the evidence if there is any. Text of a worker stays inside a quote or on one line,
 * so that it cannot forge a header or a section. It mentions no user and loads no image; the only link is the address of
 * the pull request.
 *
 * @example
 * renderComment({ order, reading, decision }).split('\n')[0] // 'Role: backend'
 */
export function renderComment(content: CommentContent): string {
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
  const result = readClaims(content);
  const sections = {
    Summary: summarize(content, result),
    Changes: `- PR: ${showAddress(result?.changes.pr)}\n${facts({ Commit: findCommit(content, result) })}`,
    Tests: facts(testFacts(result)),
    ...(decision.evidence?.length ? { Evidence: renderEvidence(decision.evidence) } : {}),
    BlockedBy: list(result?.blocked_by),
    OpenQuestions: list(result?.questions),
    Next: inline(decision.next),
  };
  const lines = Object.entries(header).map(([key, value]) => `${key}: ${none(value)}`);
  const blocks = Object.entries(sections).map(([title, text]) => `## ${title}\n${text}`);
  return `${lines.join('\n')}\n\n${blocks.join('\n\n')}\n`;
}

/**
 * Formats the trigger of a comment as its key: the run, or the inbox item that a person settled.
 *
 * @example
 * formatTrigger(order) // 'workrun:2026-11-15-backend-0001'
 */
export function formatTrigger(order: Pick<WorkOrder, 'run_id'>, itemId?: string): string {
  return itemId === undefined ? `workrun:${order.run_id}` : `resolve:${itemId}`;
}

function chooseAction({ action }: Decision, resolved: CommentContent['resolved']): string {
  switch (resolved?.resolution.action) {
    case 'accept':
    case 'edit':
      return 'accept';
    case 'reject':
      return 'reject';
    case 'retry':
      return 'unblock';
    case undefined:
      return action === 'advance' ? 'update' : 'blocked';
  }
}

/** Reads the claims of this run: a result that names another run says nothing about this one. */
function readClaims({ order, reading, resolved }: CommentContent): WorkResult | undefined {
  const result = resolved?.resolution.result ?? reading.result;
  return result?.run_id === order.run_id && result.issue_ref === order.issue_ref ? result : undefined;
}

/** A commit that was not found or not checked is left out, unless a person has entered the result. */
function findCommit({ reading, resolved }: CommentContent, result: WorkResult | undefined): string | undefined {
  const commit = result?.changes.commit;
  const doubts = [...reading.problems, ...(reading.notices ?? [])].map(({ code }) => code);
  const isDoubted = doubts.includes('COMMIT_NOT_FOUND') || doubts.includes('COMMIT_UNCHECKED');
  if (commit === undefined || (isDoubted && resolved?.resolution.result === undefined)) return undefined;
  return `git:${commit}`;
}

/** The reason, a person's comments on lines, and the worker's own words: its summary, or its answer if it left no result. */
function summarize({ decision, reading, resolved }: CommentContent, result: WorkResult | undefined): string {
  const comments = resolved?.resolution.comments ?? [];
  const said = list(comments.map((comment) => `${describePlace(comment)}: ${comment.text}`));
  const words = quote(result?.summary ?? reading.answer ?? '');
  return [inline(decision.reason), comments.length === 0 ? '' : said, words].filter((part) => part !== '').join('\n\n');
}

function testFacts(result: WorkResult | undefined): Readonly<Record<string, string | undefined>> {
  if (result?.tests === 'n/a') return { Command: undefined, Result: 'n/a', Evidence: undefined };
  const report = result?.tests;
  return { Command: report?.command, Result: report && TEST_WORDS[report.result], Evidence: report?.evidence };
}

const TEST_WORDS = {
  pass: 'pass',
  fail: 'fail',
  'n/a': 'n/a',
  not_run: 'not run',
  not_recognised: 'result not recognised',
} as const;

function facts(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .map(([key, value]) => `- ${key}: ${none(value)}`)
    .join('\n');
}

/** The headings of the evidence, in their order. What a worker reports is not what Sluice could not check. */
const GROUPS: readonly (readonly [title: string, isIn: (one: Evidence) => boolean])[] = [
  ['Contradicted', ({ verdict }) => verdict === 'contradicted'],
  ['Verified by Sluice', ({ verdict }) => verdict === 'confirmed'],
  ['Reported, not verified', ({ verdict, by }) => verdict === 'unchecked' && by === 'worker'],
  ['Not checked', ({ verdict, by }) => verdict === 'unchecked' && by === 'sluice'],
];

/** Verified facts apart from reported ones, with the runs that show them. */
function renderEvidence(evidence: readonly Evidence[]): string {
  const groups = GROUPS.flatMap(([title, isIn]) => {
    const entries = evidence.filter(isIn);
    if (entries.length === 0) return [];
    const lines = entries.map(
      ({ claim, detail, run }) => `${claim}: ${detail}${run === undefined ? '' : ` (run ${run})`}`,
    );
    return [`${title}:\n${list(lines)}`];
  });
  return groups.join('\n\n');
}

const LIST_LENGTH = 20;

function list(entries: readonly string[] = []): string {
  if (entries.length === 0) return 'none';
  const shown = entries.slice(0, LIST_LENGTH).map((entry) => `- ${none(entry)}`);
  return [...shown, ...(entries.length > LIST_LENGTH ? [`- and ${entries.length - LIST_LENGTH} more`] : [])].join('\n');
}

// A forge takes 65,536 characters a comment. The longest comment has about sixty lines and one quote.
const LINE_LENGTH = 500;
const QUOTE_LENGTH = 16_000;

/** Text of any origin as one line of a comment. */
function inline(text: string): string {
  return escapeMarkup(showLine(text, LINE_LENGTH));
}

/** A value as one line, `none` if it is missing. */
function none(value: string | undefined): string {
  const line = inline(value ?? '');
  return line === '' ? 'none' : line;
}

/** A worker's own words as a quote: each line is marked, so that none of them can look like a header or a section. */
function quote(text: string): string {
  const shown = escapeMarkup(showText(text.trim(), QUOTE_LENGTH));
  if (shown === '') return '';
  return shown
    .split('\n')
    .map((line) => (line.trim() === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** The address of the pull request stays a link if it is a plain web address. */
function showAddress(value: string | undefined): string {
  const line = showLine(value ?? '', LINE_LENGTH);
  return /^https?:\/\/[\w.:-]+(?:\/[\w./#?=&%+~-]*)?$/.test(line) ? line : none(value);
}

/**
 * Tags would be taken as HTML, and a hidden comment could pass for the marker of a delivery. A mention would notify people,
 * an image would be loaded by everyone who reads the comment, and a link may lead anywhere.
 */
function escapeMarkup(text: string): string {
  return text
    .replaceAll(/<(?=[A-Za-z/!?])/g, '&lt;')
    .replaceAll(/(?<![\w.])@(?=\w)/g, FULL_WIDTH_AT)
    .replaceAll(/\](?=\s*[([:])/g, String.raw`\]`)
    .replaceAll(/:\/\/(?=\S)/g, String.raw`:\//`)
    .replaceAll(/(?<![\w/.])www\.(?=\w)/gi, (www) => `${www.slice(0, -1)}\\.`);
}

/** Looks like the sign it replaces; no forge takes it for the beginning of a name. */
const FULL_WIDTH_AT = '\uff20';
