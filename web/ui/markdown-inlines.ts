/** The inline content of Markdown. Addresses are plain text; the renderer turns them into links. */
export type Inline =
  | string
  | { readonly kind: 'strong' | 'emphasis' | 'strike'; readonly children: readonly Inline[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'link' | 'image'; readonly address: string; readonly children: readonly Inline[] };

/** Limits the number of elements, because input consisting only of markers would create thousands. */
export interface MarkdownBudget {
  nodes: number;
}

const MAX_DEPTH = 8;
const MAX_URL_LENGTH = 2048;
const BARE_ADDRESS = /https?:\/\/[^\s<>"'`\])]+/y;
const SPECIAL = /[\\`*_~[\]!<h]/g;
const PUNCTUATION = /[!-/:-@[-`{-~]/;

type Mark = '**' | '__' | '*' | '_' | '~~';
type OpenMark = Mark | '[' | '![' | '';

/** An open marker or bracket; the content after it is collected in `children`. */
interface OpenInline {
  readonly mark: OpenMark;
  readonly children: Inline[];
}

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
  /** Turns the most recently opened marker back into text. */
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
      const kind = mark === '~~' ? 'strike' : mark.length === 2 ? 'strong' : 'emphasis';
      add({ kind, children: openedMark.children }, at + mark.length);
      return true;
    }
    return canOpen && after.trim() !== '' && begin(mark, mark.length);
  }
  function begin(mark: OpenMark, length: number): boolean {
    if (stack.length > MAX_DEPTH || budget.nodes <= 0) return false;
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
  /** Parses the element that starts with a special character; false if it is an ordinary character. */
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
