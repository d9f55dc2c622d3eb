import { formatInvisible, INVISIBLE_CHARACTERS } from '../base/index.js';
import type { RunResult } from '../records/index.js';

/** The facts of a summary besides the result. */
export interface SummarizedRun {
  readonly id: string;
  readonly engine: string;
  readonly durationMs: number;
  /** Where the run can be seen. */
  readonly link?: string | undefined;
  readonly result: RunResult;
}

/** The page of a CI job may have a megabyte, and may show several runs. */
const BLOCK_LENGTH = 32 * 1024;
const LISTED = 20;

/**
 * Summarizes a run in Markdown for the page of a CI job. What an agent wrote is only ever code: it cannot form headings,
 * links, images, mentions or HTML.
 *
 * @example
 * await appendFile(process.env.GITHUB_STEP_SUMMARY, renderSummary({ id, engine, durationMs, result }))
 */
export function renderSummary({ id, engine, durationMs, link, result }: SummarizedRun): string {
  const { usage, error, process: ended } = result;
  const rows: [string, string | undefined][] = [
    ['Run', code(id)],
    ['Engine', code(engine)],
    ['Model', result.model && code(result.model)],
    ['Duration', `${(durationMs / 1000).toFixed(1)} s`],
    ['Attempts', String(result.attempts)],
    ['Repairs', code(result.repair_level)],
    ['Tokens', usage && `${usage.input_tokens} in, ${usage.output_tokens} out`],
    ['Cost', usage && (usage.cost === undefined ? 'not reported by the engine' : `$${usage.cost.toFixed(4)}`)],
    ['Exit code', ended && String(ended.exit_code ?? ended.signal ?? 'unknown')],
    ['Link', link === undefined ? undefined : renderLink(link)],
  ];
  const table = rows.flatMap(([label, value]) => (value === undefined ? [] : [`| ${label} | ${value} |`]));
  return [
    `### ${TITLES[result.status]}`,
    '',
    '| | |',
    '| --- | --- |',
    ...table,
    '',
    ...(error === undefined ? [] : [`**${code(error.code)}**`, '', fence(error.message), '']),
    ...(result.value === undefined ? [] : [fence(JSON.stringify(result.value, null, 2), 'json'), '']),
    ...(result.value === undefined && result.text !== undefined ? [fence(result.text), ''] : []),
    ...list(
      'Warnings',
      result.warnings.map(({ code: name, message }) => `${code(name)} ${code(message)}`),
    ),
    '',
  ].join('\n');
}

const TITLES: Readonly<Record<RunResult['status'], string>> = {
  success: '✅ The agent succeeded',
  comment: '💬 The agent answered without a value',
  failed: '❌ The run failed',
  canceled: '⏹️ The run was canceled',
};

function list(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > LISTED ? [`- and ${lines.length - LISTED} more`] : [];
  return [`**${title}**`, '', ...lines.slice(0, LISTED).map((line) => `- ${line}`), ...more, ''];
}

/** Only a valid web address becomes a link; anything else is shown as code. */
function renderLink(link: string): string {
  return /^https?:\/\/[\w.:[\]-]+(?:\/[\w./~%#=&?-]*)?$/.test(link) ? `<${link}>` : code(link);
}

/** Untrusted text on one line, as code: with more backticks than any run of them in it, and safe in a table. */
function code(text: string): string {
  const line = text.slice(0, 1000).replaceAll(/\s+/g, ' ').replaceAll(INVISIBLE_CHARACTERS, formatInvisible).trim();
  const ticks = '`'.repeat(measureLongestRun(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') || line === '' ? ' ' : '';
  return `${ticks}${pad}${line.replaceAll('|', '\\|')}${pad}${ticks}`;
}

/** Untrusted text over several lines, in a fence that is longer than any in it. */
function fence(text: string, language = ''): string {
  const cut =
    text.length > BLOCK_LENGTH
      ? `${text.slice(0, BLOCK_LENGTH)}\n… (${text.length - BLOCK_LENGTH} more characters)`
      : text;
  const shown = cut.replaceAll(/\r\n?/g, '\n').replaceAll(INVISIBLE_CHARACTERS, formatInvisible);
  const ticks = '`'.repeat(Math.max(3, measureLongestRun(shown) + 1));
  return `${ticks}${language}\n${shown}\n${ticks}`;
}

function measureLongestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}
