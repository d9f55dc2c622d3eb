import { formatInvisible, INVISIBLE_CHARACTERS, cutText } from '../../base/index.js';
import type { RunResult } from '../../store/records/index.js';

/** The run to summarize. */
export interface SummarizedRun {
  readonly id: string;
  readonly engine: string;
  readonly durationMs: number;
  /** The URL of the run or its CI job. */
  readonly link?: string | undefined;
  readonly result: RunResult;
}

/** A CI job's summary page is limited to a megabyte and can show multiple runs. */
const MAX_BLOCK_LENGTH = 32 * 1024;
const MAX_LISTED = 20;

/**
 * Summarizes a run in Markdown for a CI job's summary page. Agent output is always formatted as code, so it cannot
 * contain headings, links, images, mentions or HTML.
 *
 * @example
 * await appendFile(process.env.GITHUB_STEP_SUMMARY, renderSummary({ id, engine, durationMs, result }))
 */
export function renderSummary({ id, engine, durationMs, link, result }: SummarizedRun): string {
  const { usage, error, process: exit } = result;
  const rows: [string, string | undefined][] = [
    ['Run', formatCode(id)],
    ['Engine', formatCode(engine)],
    ['Model', result.model && formatCode(result.model)],
    ['Duration', `${(durationMs / 1000).toFixed(1)} s`],
    ['Attempts', String(result.attempts)],
    ['Repair level', formatCode(result.repair_level)],
    ['Tokens', usage && `${usage.input_tokens} in, ${usage.output_tokens} out`],
    ['Cost', usage && (usage.cost === undefined ? 'not reported by the engine' : `$${usage.cost.toFixed(4)}`)],
    ['Exit code', exit && String(exit.exit_code ?? exit.signal ?? 'unknown')],
    ['Link', link === undefined ? undefined : renderLink(link)],
  ];
  // In a table, `|` ends a cell even inside code.
  const table = rows.flatMap(([label, value]) =>
    value === undefined ? [] : [`| ${label} | ${value.replaceAll('|', '\\|')} |`],
  );
  return [
    `### ${TITLES[result.status]}`,
    '',
    '| | |',
    '| --- | --- |',
    ...table,
    '',
    ...(error === undefined ? [] : [`**${formatCode(error.code)}**`, '', formatBlock(error.message), '']),
    ...(result.value === undefined ? [] : [formatBlock(JSON.stringify(result.value, null, 2), 'json'), '']),
    ...(result.value === undefined && result.text !== undefined ? [formatBlock(result.text), ''] : []),
    ...formatList(
      'Warnings',
      result.warnings.map(({ code: name, message }) => `${formatCode(name)} ${formatCode(message)}`),
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

function formatList(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const omitted = lines.length > MAX_LISTED ? [`- and ${lines.length - MAX_LISTED} more`] : [];
  return [`**${title}**`, '', ...lines.slice(0, MAX_LISTED).map((line) => `- ${line}`), ...omitted, ''];
}

/** Only an http or https URL with harmless characters becomes a link; anything else is shown as code. */
function renderLink(link: string): string {
  return /^https?:\/\/[\w.:[\]-]+(?:\/[\w./~%#=&?-]*)?$/.test(link) ? `<${link}>` : formatCode(link);
}

/** Formats untrusted text as inline code, delimited by more backticks than occur consecutively in it. */
function formatCode(text: string): string {
  const line = cutText(text, 1000).replaceAll(/\s+/g, ' ').replaceAll(INVISIBLE_CHARACTERS, formatInvisible).trim();
  const ticks = '`'.repeat(countConsecutiveBackticks(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') || line === '' ? ' ' : '';
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

/** Formats untrusted text as a code block, with a fence longer than any in the text. */
function formatBlock(text: string, language = ''): string {
  const beginning = cutText(text, MAX_BLOCK_LENGTH);
  const omitted = text.length - beginning.length;
  const cut = omitted > 0 ? `${beginning}\n… (${omitted} more characters)` : text;
  const content = cut.replaceAll(/\r\n?/g, '\n').replaceAll(INVISIBLE_CHARACTERS, formatInvisible);
  const ticks = '`'.repeat(Math.max(3, countConsecutiveBackticks(content) + 1));
  return `${ticks}${language}\n${content}\n${ticks}`;
}

/** Returns the length of the longest run of backticks. */
function countConsecutiveBackticks(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, ticks) => Math.max(longest, ticks.length), 0);
}
