import { readInlines } from './markdown-inlines.js';
import type { Inline, MarkdownBudget } from './markdown-inlines.js';

/** A Markdown block. */
export type Block =
  | { readonly kind: 'paragraph'; readonly children: readonly Inline[] }
  | { readonly kind: 'heading'; readonly level: number; readonly children: readonly Inline[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | { readonly kind: 'list'; readonly first: number | null; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: 'table'; readonly rows: readonly (readonly (readonly Inline[])[])[] }
  | { readonly kind: 'rule' };

const MAX_DEPTH = 6;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+|$)/;
const RULE = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?: +|$)/;
const TABLE_LINE = /^[ \t|:-]+$/;

/**
 * Parses Markdown: headings, lists, quotes, fences, tables and paragraphs. HTML stays plain text; only Markdown markers
 * are removed. Parsing takes linear time, and depth and block count are limited.
 */
export function readBlocks(text: string, budget: MarkdownBudget = { nodes: 1500 }): readonly Block[] {
  return readLines(text.replaceAll('\r\n', '\n').split('\n'), budget, 0);
}

function readLines(lines: readonly string[], budget: MarkdownBudget, depth: number): readonly Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    if (line.trim() === '') {
      at += 1;
      continue;
    }
    const [block, next] = readBlock(lines, at, budget, depth);
    budget.nodes -= 1;
    blocks.push(block);
    at = next;
  }
  return blocks;
}

/** Parses the block that starts at a line; returns it and the line after it. */
function readBlock(
  lines: readonly string[],
  at: number,
  budget: MarkdownBudget,
  depth: number,
): readonly [block: Block, next: number] {
  const line = lines[at] ?? '';
  // Once the budget is used up, the rest is one paragraph.
  if (budget.nodes <= 0) return [{ kind: 'paragraph', children: [lines.slice(at).join('\n')] }, lines.length];
  const fence = FENCE.exec(line);
  if (fence !== null) return readFence(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading !== null) {
    const children = readInlines(stripClosingMarks(line.slice(heading[0].length).trim()), budget);
    return [{ kind: 'heading', level: heading[1]?.length ?? 1, children }, at + 1];
  }
  if (RULE.test(line)) return [{ kind: 'rule' }, at + 1];
  if (isIndented(line)) {
    const end = findEnd(lines, at, (nextLine) => isIndented(nextLine));
    const text = lines.slice(at, end).map((codeLine) => codeLine.slice(4));
    return [{ kind: 'code', language: '', text: text.join('\n') }, end];
  }
  if (depth < MAX_DEPTH && QUOTE.test(line)) {
    const end = findEnd(lines, at, (nextLine) => QUOTE.test(nextLine));
    const inner = lines.slice(at, end).map((quotedLine) => quotedLine.replace(QUOTE, ''));
    return [{ kind: 'quote', blocks: readLines(inner, budget, depth + 1) }, end];
  }
  if (depth < MAX_DEPTH && ITEM.test(line)) return readList(lines, at, budget, depth);
  if (line.includes('|') && isTableLine(lines[at + 1])) {
    return readTable(lines, at, budget);
  }
  const end = findEnd(lines, at + 1, (nextLine) => !startsBlock(nextLine, depth));
  return [{ kind: 'paragraph', children: readInlines(lines.slice(at, end).join('\n'), budget) }, end];
}

function readFence(lines: readonly string[], at: number, fence: RegExpExecArray): readonly [Block, number] {
  const [, mark = '```', language = ''] = fence;
  const end = findEnd(lines, at + 1, (line) => {
    const text = line.trim();
    return !(text.startsWith(mark) && text === mark.charAt(0).repeat(text.length));
  });
  const text = lines.slice(at + 1, end).join('\n');
  return [{ kind: 'code', language: language.trim(), text }, Math.min(end + 1, lines.length)];
}

function readList(
  lines: readonly string[],
  from: number,
  budget: MarkdownBudget,
  depth: number,
): readonly [Block, number] {
  const items: (readonly Block[])[] = [];
  const begin = ITEM.exec(lines[from] ?? '');
  const kind = readListKind(begin?.[2]);
  let at = from;
  while (at < lines.length && budget.nodes > 0) {
    const item = ITEM.exec(lines[at] ?? '');
    if (item === null || readListKind(item[2]) !== kind || RULE.test(lines[at] ?? '')) break;
    const indent = Math.min(item[0].length, (item[1]?.length ?? 0) + (item[2]?.length ?? 1) + 1);
    const end = findItemEnd(lines, at + 1, indent, depth);
    const inner = lines
      .slice(at, end)
      .map((line, index) => (index === 0 ? line.slice(item[0].length) : removeIndent(line, indent)));
    budget.nodes -= 1;
    items.push(readLines(inner, budget, depth + 1));
    at = end;
    // An item can follow after an empty line.
    while (at < lines.length && lines[at]?.trim() === '' && ITEM.test(lines[at + 1] ?? '')) at += 1;
  }
  const number = Number.parseInt(begin?.[2] ?? '', 10);
  return [{ kind: 'list', first: kind === 'numbered' ? number : null, items }, at];
}

/** Finds the end of an item: it continues with indented lines, and with text that follows without an empty line. */
function findItemEnd(lines: readonly string[], from: number, indent: number, depth: number): number {
  let end = from;
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.trim() === '') continue;
    const isInside = line.startsWith(' '.repeat(Math.min(indent, 2)));
    const continues = end === at && !startsBlock(line, depth);
    if (!isInside && !continues) break;
    if (end < at && !isInside) break;
    end = at + 1;
  }
  return end;
}

function readTable(lines: readonly string[], at: number, budget: MarkdownBudget): readonly [Block, number] {
  const rows = [readCells(lines[at] ?? '', budget)];
  let end = at + 2;
  for (; end < lines.length && lines[end]?.includes('|') === true && budget.nodes > 0; end += 1) {
    rows.push(readCells(lines[end] ?? '', budget));
  }
  return [{ kind: 'table', rows }, end];
}

function readCells(line: string, budget: MarkdownBudget): readonly (readonly Inline[])[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  const allCells = inner.split(/(?<!\\)\|/);
  // Once the budget is used up, the rest of the row is one cell.
  const cellLimit = Math.max(1, budget.nodes);
  const cells =
    allCells.length > cellLimit
      ? [...allCells.slice(0, cellLimit - 1), allCells.slice(cellLimit - 1).join('|')]
      : allCells;
  budget.nodes -= cells.length;
  return cells.map((cell) => readInlines(cell.trim().replaceAll('\\|', '|'), budget));
}

function stripClosingMarks(text: string): string {
  let end = text.length;
  while (text[end - 1] === '#') end -= 1;
  return end === 0 || text[end - 1] === ' ' ? text.slice(0, end).trimEnd() : text;
}

function startsBlock(line: string, depth: number): boolean {
  if (line.trim() === '' || FENCE.test(line) || HEADING.test(line) || RULE.test(line)) return true;
  return depth < MAX_DEPTH && (QUOTE.test(line) || ITEM.test(line));
}

function isTableLine(line: string | undefined): boolean {
  return line !== undefined && line.includes('|') && line.includes('-') && TABLE_LINE.test(line);
}

function isIndented(line: string): boolean {
  return line.startsWith('    ') && line.trim() !== '';
}

function readListKind(mark: string | undefined): 'plain' | 'numbered' {
  return mark !== undefined && /^\d/.test(mark) ? 'numbered' : 'plain';
}

function removeIndent(line: string, indent: number): string {
  const spaces = line.length - line.trimStart().length;
  return line.slice(Math.min(indent, spaces));
}

function findEnd(lines: readonly string[], from: number, continues: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && continues(lines[end] ?? '')) end += 1;
  return end;
}
