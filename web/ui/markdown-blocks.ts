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

/** Parses Markdown in linear time, with limited depth and block count. HTML stays plain text. */
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

/** The inline content of Markdown. Addresses are plain text; the renderer turns them into links. */
export type Inline =
  | string
  | { readonly kind: 'strong' | 'em' | 's'; readonly children: readonly Inline[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'link' | 'image'; readonly address: string; readonly children: readonly Inline[] };

/** Limits the number of elements, because input consisting only of markers would create thousands. */
export interface MarkdownBudget {
  nodes: number;
}

const MAX_INLINE_DEPTH = 8;
const MAX_URL_LENGTH = 2048;
const BARE_ADDRESS = /https?:\/\/[^\s<>"'`\])]+/y;
const SPECIAL = /[\\`*_~[\]!<h]/g;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
type Mark = '**' | '__' | '*' | '_' | '~~';
type OpenMark = Mark | '[' | '![' | '';

type OpenInline = Readonly<{ mark: OpenMark; children: Inline[] }>;

/** Parses inline content in one pass: code, emphasis, links, images, addresses. Unpaired markers stay text. */
export function readInlines(text: string, budget: MarkdownBudget = { nodes: 1000 }): readonly Inline[] {
  const root: OpenInline = { mark: '', children: [] };
  const stack: OpenInline[] = [root];
  /** Lengths of backtick runs that have no closing run in the remaining input. */
  const unpaired = new Set<number>();
  let paren = -2;
  let plain = 0;
  let at = 0;

  const current = (): OpenInline => stack.at(-1) ?? root;
  function addText(piece: string): void {
    if (piece === '') return;
    const { children } = current();
    const last = children.at(-1);
    if (typeof last === 'string') children[children.length - 1] = last + piece;
    else children.push(piece);
  }
  function add(node: Exclude<Inline, string>, next: number): void {
    addText(text.slice(plain, at));
    budget.nodes -= 1;
    current().children.push(node);
    at = next;
    plain = next;
  }
  function revertLast(): void {
    const open = stack.pop();
    if (open === undefined) return;
    addText(open.mark);
    for (const child of open.children) {
      if (typeof child === 'string') addText(child);
      else current().children.push(child);
    }
  }
  /** Closes the nearest of these markers; open markers inside it become text. */
  function close(isMark: (mark: OpenMark) => boolean): OpenInline | undefined {
    if (!stack.some(({ mark }) => isMark(mark))) return undefined;
    addText(text.slice(plain, at));
    plain = at;
    while (!isMark(current().mark)) revertLast();
    return stack.pop();
  }
  /** Finds the next closing parenthesis. The position is cached, because many brackets can share it. */
  function findNextParen(from: number): number {
    if (paren !== -1 && paren < from) paren = text.indexOf(')', from);
    return paren;
  }

  function readCode(): boolean {
    const run = findRunEnd(text, at);
    const length = run - at;
    if (unpaired.has(length)) return false;
    for (let end = text.indexOf('`', run); end !== -1; end = text.indexOf('`', end)) {
      const after = findRunEnd(text, end);
      if (after - end === length) {
        add({ kind: 'code', text: text.slice(run, end) }, after);
        return true;
      }
      end = after;
    }
    unpaired.add(length);
    return false;
  }
  function readMark(mark: Mark): boolean {
    const before = at === 0 ? ' ' : (text[at - 1] ?? ' ');
    const after = text[at + mark.length] ?? ' ';
    // Identifiers contain underscores, so an underscore is a marker only at a word boundary.
    const canOpen = !mark.startsWith('_') || /[\s([{*~]/.test(before);
    const canClose = !mark.startsWith('_') || /[\s.,;:!?)\]}*~]/.test(after);
    const openedMark = before.trim() === '' || !canClose ? undefined : close((other) => other === mark);
    if (openedMark !== undefined) {
      const kind = mark === '~~' ? 's' : mark.length === 2 ? 'strong' : 'em';
      add({ kind, children: openedMark.children }, at + mark.length);
      return true;
    }
    return canOpen && after.trim() !== '' && begin(mark, mark.length);
  }
  function begin(mark: OpenMark, length: number): boolean {
    if (stack.length > MAX_INLINE_DEPTH || budget.nodes <= 0) return false;
    addText(text.slice(plain, at));
    stack.push({ mark, children: [] });
    at += length;
    plain = at;
    return true;
  }
  function readLink(): boolean {
    if (text[at + 1] !== '(') return false;
    const end = findNextParen(at + 2);
    if (end === -1 || end - at > MAX_URL_LENGTH) return false;
    const target = text.slice(at + 2, end).trim();
    if (target === '') return false;
    const gap = target.search(/\s/);
    const address = gap === -1 ? target : target.slice(0, gap);
    const title = gap === -1 ? [] : [target.slice(gap)];
    const openedMark = close((mark) => mark === '[' || mark === '![');
    if (openedMark === undefined) return false;
    const kind = openedMark.mark === '[' ? 'link' : 'image';
    add({ kind, address: address.replace(/^<|>$/g, ''), children: [...openedMark.children, ...title] }, end + 1);
    return true;
  }
  function readAddress(from: number): boolean {
    BARE_ADDRESS.lastIndex = from;
    const match = BARE_ADDRESS.exec(text)?.[0];
    if (match === undefined) return false;
    const address = stripPunctuation(match);
    const isClosed = from > at && text[from + address.length] === '>';
    add({ kind: 'link', address, children: [] }, from + address.length + (isClosed ? 1 : 0));
    return true;
  }
  function read(character: string): boolean {
    if (budget.nodes <= 0) return false;
    switch (character) {
      case '\\':
        if (!PUNCTUATION.test(text[at + 1] ?? '')) return false;
        addText(text.slice(plain, at));
        plain = at + 1;
        at += 2;
        return true;
      case '`':
        return readCode();
      case '*':
        return readMark(text[at + 1] === '*' ? '**' : '*');
      case '_':
        return readMark(text[at + 1] === '_' ? '__' : '_');
      case '~':
        return text[at + 1] === '~' && readMark('~~');
      case '!':
        return text[at + 1] === '[' && begin('![', 2);
      case '[':
        return begin('[', 1);
      case ']':
        return readLink();
      case '<':
        return readAddress(at + 1);
      default:
        return readAddress(at);
    }
  }

  while (at < text.length) {
    SPECIAL.lastIndex = at;
    const match = SPECIAL.exec(text);
    if (match === null) break;
    at = match.index;
    const character = match[0];
    // A run of backticks without a closing run is skipped as a whole, so a thousand backticks are checked only once.
    if (!read(character)) at = character === '`' ? findRunEnd(text, at) : at + 1;
  }
  at = text.length;
  addText(text.slice(plain));
  while (stack.length > 1) revertLast();
  return root.children;
}

/** Removes punctuation from the end of an address, because it belongs to the sentence. */
function stripPunctuation(address: string): string {
  let end = address.length;
  while ('.,:;!?'.includes(address.charAt(end - 1))) end -= 1;
  return address.slice(0, end);
}

function findRunEnd(text: string, from: number): number {
  let end = from;
  while (text[end] === '`') end += 1;
  return end;
}
