import { createHash } from 'node:crypto';
import { formatInvisible, INVISIBLE_CHARACTERS, cutText, escapeMarkup } from '../../base/index.js';
import type { FcmpEvent } from '../../events/index.js';
import type { Evidence, RunResult } from '../../store/records/index.js';
import { MAX_SECRET_LENGTH, type RunReport } from './gather-report.js';

/** Maximum size of a page; the rest is omitted, with a note. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const MAX_TEXT_LENGTH = 128 * 1024;

const STYLE = `
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; } td, th { text-align: left; vertical-align: top; padding: 0.15rem 1rem 0.15rem 0; }
th { font-weight: 600; white-space: nowrap; }
td, pre { unicode-bidi: isolate; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; font: 13px/1.45 ui-monospace, monospace; border: 1px solid #8884; border-radius: 4px; padding: 0.6rem; max-height: 40rem; overflow: auto; }
.event { border-left: 3px solid #8884; padding-left: 0.8rem; margin: 0.6rem 0; }
.event > b { font-size: 0.85rem; } .note { opacity: 0.75; }
`;

/** Allows only this style sheet: no scripts, images, frames, forms or connections. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/** Renders a run as one static HTML file: no scripts, links or images, agent output escaped, secrets masked. */
export function renderHtml(
  report: RunReport,
  { version, maskText }: { readonly version: string; readonly maskText: (text: string) => string },
): string {
  const page = new Page(maskText);
  page.add(
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8">`,
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    `<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">`,
    `<meta name="robots" content="noindex"><title>${page.text(`Run ${report.id}`)}</title><style>${STYLE}</style></head><body>`,
    `<h1>${page.text(`Run ${report.id}`)}</h1>`,
  );
  addOverview(page, report);
  addOrder(page, report);
  addResult(page, report);
  addRequest(page, report);
  addEvents(page, report);
  for (const { name, text, omittedBytes } of report.streams) {
    page.section(name, () => {
      if (omittedBytes > 0) page.note(`The first ${omittedBytes} bytes are omitted.`);
      page.block(text);
    });
  }
  page.end(`Created by Sluice ${version}. Known secrets are masked, but read the page before you publish it.`);
  return page.toString();
}

function addOverview(page: Page, { record, attempts, omittedAttempts, problem }: RunReport): void {
  const { result } = record ?? {};
  const first = omittedAttempts === 0 ? attempts[0]?.meta : undefined;
  const last = attempts.at(-1)?.meta;
  page.rows([
    ['Status', result?.status ?? record?.state ?? last?.verdict],
    ['Error', result?.error && `${result.error.code}: ${result.error.message}`],
    ['Engine', record?.spec.engine ?? last?.engine],
    ['Agent version', result?.process?.version ?? last?.version],
    ['Model', result?.model],
    ['Command', (result?.process?.command ?? last?.command)?.map((word) => JSON.stringify(word)).join(' ')],
    ['Exit code', result?.process?.exit_code ?? last?.exit_code],
    ['Signal', result?.process?.signal ?? last?.signal],
    ['Created', record?.created_at],
    ['Started', record?.started_at ?? first?.started_at],
    ['Ended', record?.ended_at ?? last?.finished_at],
    ['Attempts', describeAttempts(result?.attempts ?? attempts.length + omittedAttempts, omittedAttempts)],
    ['Repair level', result?.repair_level],
    ['Tokens', result?.usage && `${result.usage.input_tokens} in, ${result.usage.output_tokens} out`],
    ['Cost', result?.usage?.cost === undefined ? undefined : `$${result.usage.cost}`],
    [
      'Sandbox',
      result?.sandbox && (result.sandbox.used ? 'used' : `not used: ${result.sandbox.reason ?? 'no reason given'}`),
    ],
    ['Problem with the run folder', problem],
  ]);
}

function describeAttempts(count: number, omitted: number): string {
  if (omitted === 0) return String(count);
  return `${count} (the output of the first ${omitted === 1 ? 'one' : omitted} is omitted)`;
}

function addOrder(page: Page, { order, items }: RunReport): void {
  if (order === undefined) return;
  page.section('Order and decision', () => {
    const { decision } = order;
    page.rows([
      ['Issue', order.order.issue_ref],
      ['Order', order.order.run_id],
      ['Wrapper', order.order.worker],
      ['Decision', decision && `${decision.action} (${decision.result_code})`],
      ['Reason', decision?.reason],
      ['Next', decision?.next],
      ...(decision?.evidence ?? []).map(({ claim, verdict, by, detail }): Row => [
        `Evidence: ${claim}`,
        `${describeVerdict(verdict, by)}: ${detail}`,
      ]),
      ...items.map(({ resolution, reason }): Row =>
        resolution === null
          ? ['Waiting for a human decision', reason]
          : ['Human decision', `${resolution.action} by ${resolution.who}: ${resolution.why}`],
      ),
    ]);
    if (order.result !== null) page.json(order.result);
  });
}

/** Distinguishes a claim made only by the agent from one that Sluice could not check. */
function describeVerdict(verdict: Evidence['verdict'], by: Evidence['by']): string {
  if (by === 'sluice') return `${verdict} by Sluice`;
  return verdict === 'unchecked' ? 'reported by the agent, not verified' : `${verdict} by the agent`;
}

function addResult(page: Page, { record }: RunReport): void {
  const result = record?.result;
  if (result === undefined || result === null) return;
  page.section('Result', () => {
    if (result.value !== undefined) page.json(result.value);
    else if (result.text !== undefined) page.block(result.text);
    else page.note('The run has no value and no text.');
    const { error, warnings, repairs, diagnostics, denials, artifacts, drift } = result;
    page.json({ error, warnings, repairs, diagnostics, denials, artifacts, drift });
  });
}

function addRequest(page: Page, { record, order }: RunReport): void {
  if (record === undefined) return;
  page.section('Request', () => {
    const { prompt, ...spec } = record.spec;
    const task = order?.order.instructions ?? prompt;
    if (task !== undefined) page.block(task);
    page.json(spec);
  });
}

function addEvents(page: Page, { events, omittedEvents }: RunReport): void {
  if (events.length === 0) return;
  page.section('Conversation', () => {
    if (omittedEvents > 0) page.note(`${omittedEvents} events in the middle are omitted.`);
    for (const event of events) {
      // The complete message follows its parts.
      if (event.type === 'assistant.message.delta') continue;
      page.event(`${event.seq} ${event.type}`, event.ts, describeEvent(event));
    }
  });
}

function describeEvent({ data }: FcmpEvent): string {
  if ('text' in data && typeof data.text === 'string') return data.text;
  return JSON.stringify(data, null, 2);
}

type Row = readonly [string, string | number | null | undefined];

/** A page written from top to bottom, with a maximum size. */
class Page {
  readonly #maskText: (text: string) => string;
  readonly #parts: string[] = [];
  #bytes = 0;
  #isFull = false;

  constructor(maskText: (text: string) => string) {
    this.#maskText = maskText;
  }

  /** Adds markup; all untrusted text in it must have been escaped with `text`. */
  add(...markup: readonly string[]): void {
    for (const part of markup) {
      this.#bytes += Buffer.byteLength(part);
      this.#parts.push(part);
    }
  }

  /** Escapes untrusted text so it cannot add markup; invisible characters become visible. */
  text(text: string): string {
    // Masked before truncation, so no part of a secret remains.
    const masked = this.#maskText(text.slice(0, MAX_TEXT_LENGTH + MAX_SECRET_LENGTH));
    const beginning = cutText(masked, MAX_TEXT_LENGTH);
    const omitted = text.length - beginning.length;
    const shortened = text.length > MAX_TEXT_LENGTH ? `${beginning}\n… (${omitted} more characters)` : masked;
    return escapeMarkup(shortened.replaceAll('\r\n', '\n').replaceAll(INVISIBLE_CHARACTERS, formatInvisible));
  }

  block(text: string): void {
    this.#addBounded(() => `<pre>${this.text(text)}</pre>\n`);
  }

  event(title: string, time: string, text: string): void {
    this.#addBounded(
      () =>
        `<div class="event"><b>${this.text(title)}</b> <span class="note">${this.text(time)}</span><pre>${this.text(text)}</pre>\n</div>`,
    );
  }

  /** Adds markup if it fits on the page. Once it does not, a note is added, and everything after it is omitted. */
  #addBounded(createMarkup: () => string): void {
    if (this.#isFull) return;
    const markup = createMarkup();
    if (this.#bytes + Buffer.byteLength(markup) <= MAX_PAGE_BYTES) return this.add(markup);
    this.#isFull = true;
    this.note(
      'The page has reached its maximum size: the rest is omitted. Use sluice export to copy the complete run.',
    );
  }

  json(value: unknown): void {
    this.block(JSON.stringify(value, null, 2));
  }

  note(text: string): void {
    this.add(`<p class="note">${this.text(text)}</p>\n`);
  }

  rows(rows: readonly Row[]): void {
    const known = rows.filter(([, value]) => value !== undefined && value !== null && value !== '');
    this.#addBounded(() => {
      const lines = known.map(
        ([label, value]) => `<tr><th>${this.text(label)}</th><td>${this.text(String(value))}</td></tr>`,
      );
      return `<table>${lines.join('\n')}</table>\n`;
    });
  }

  section(title: string, write: () => void): void {
    if (this.#isFull) return;
    this.add(`<h2>${this.text(title)}</h2>\n`);
    write();
  }

  end(note: string): void {
    this.note(note);
    this.add('</body></html>\n');
  }

  toString(): string {
    return this.#parts.join('');
  }
}

interface SummarizedRun {
  readonly id: string;
  readonly engine: string;
  readonly durationMs: number;
  readonly link?: string | undefined;
  readonly result: RunResult;
}

/** A CI job's summary page is limited to a megabyte and can show multiple runs. */
const MAX_BLOCK_LENGTH = 32 * 1024;
const MAX_LISTED = 20;

/**
 * Summarizes a run in Markdown for a CI job's summary page. Agent output is always formatted as code, so it cannot
 * contain headings, links, images, mentions or HTML.
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
