/** What the locator found at a place in the text. */
export type Sighting =
  /** A bracket, or at the very beginning a scalar: a value may start here. */
  | { readonly kind: 'value'; readonly at: number; readonly lineStart: boolean; readonly marked: boolean }
  /** What was read so far was thinking, or is superseded: the root starts again. */
  | { readonly kind: 'restart' }
  /** All text was looked at. */
  | { readonly kind: 'more' };

/** Everything that changes where the answer may be, in one pattern; brackets outside of it begin values. */
const LANDMARK =
  /<(\/?)(think|thinking|thought|reasoning)(?:\s[^<>]{0,80})?>|<json(?:\s[^<>]{0,80})?>|<\/json\s*>|<\|(start|channel|message|end|return|call|constrain)\|>|[[{]/gi;
/** A tag cut in the middle: more text may complete it. */
const CUT_TAG = /<[^<>]{0,100}$/;
const SCALAR_START = /^[\s\uFEFF]*(["\d\-tfn])/;

/**
 * Follows a text as it streams and tells where a value may begin: thinking and harmony channels other than the final one
 * are passed over, a `<json>` tag or a final channel starts anew.
 */
export class Locator {
  private text = '';
  private position = 0;
  private atBeginning = true;
  private thinking: string | undefined;
  private hiddenChannel = false;
  private channelFrom: number | undefined;
  private insideTag = false;

  append(chunk: string): void {
    if (this.position > 0) {
      // One character is kept to tell whether the next one begins a line.
      const kept = Math.min(this.position - 1, this.channelFrom ?? Infinity);
      this.text = this.text.slice(kept);
      this.position -= kept;
      if (this.channelFrom !== undefined) this.channelFrom -= kept;
    }
    this.text += chunk;
  }

  /** The text from `at` on: what a value that begins there is read from. */
  rest(at: number): string {
    return this.text.slice(at);
  }

  /** Looks on in `text`, from `position` on; what stands before only tells whether a line begins. */
  resume(text: string, position: number): void {
    this.text = text;
    this.position = position;
    this.channelFrom = undefined;
  }

  next(): Sighting {
    const scalar = this.atBeginning ? SCALAR_START.exec(this.text) : null;
    if (scalar !== null) {
      this.atBeginning = false;
      return { kind: 'value', at: scalar[0].length - 1, lineStart: true, marked: false };
    }
    for (;;) {
      LANDMARK.lastIndex = this.position;
      const match = LANDMARK.exec(this.text);
      if (match === null) return this.keepTail();
      const end = match.index + match[0].length;
      this.atBeginning = false;
      const sighting = this.take(match, end);
      if (sighting !== undefined) return sighting;
    }
  }

  private take(match: RegExpExecArray, end: number): Sighting | undefined {
    const mark = match[0].toLowerCase();
    if (mark === '{' || mark === '[') return this.takeBracket(match.index);
    this.position = end;
    if (match[2] !== undefined) return this.takeThinkTag(match[2].toLowerCase(), match[1] === '/');
    if (match[3] !== undefined) return this.takeHarmonyMarker(match[3], match.index, end);
    if (this.thinking !== undefined) return undefined;
    this.insideTag = !mark.startsWith('</');
    return this.insideTag ? { kind: 'restart' } : undefined;
  }

  private takeBracket(at: number): Sighting | undefined {
    this.position = at + 1;
    if (this.thinking !== undefined || this.hiddenChannel || this.channelFrom !== undefined) return undefined;
    const lineStart = at === 0 || this.text[at - 1] === '\n';
    return { kind: 'value', at, lineStart, marked: this.insideTag };
  }

  private takeThinkTag(name: string, closes: boolean): Sighting | undefined {
    if (!closes) {
      this.thinking ??= name;
      return undefined;
    }
    if (this.thinking === undefined) return { kind: 'restart' };
    if (this.thinking === name) this.thinking = undefined;
    return undefined;
  }

  private takeHarmonyMarker(marker: string, at: number, end: number): Sighting | undefined {
    const named = this.channelFrom === undefined ? undefined : this.text.slice(this.channelFrom, at).trim();
    this.channelFrom = marker === 'channel' ? end : undefined;
    if (named === undefined) return undefined;
    this.hiddenChannel = named.startsWith('analysis');
    return named.startsWith('final') ? { kind: 'restart' } : undefined;
  }

  private keepTail(): Sighting {
    const cut = CUT_TAG.exec(this.text.slice(Math.max(this.position, this.text.length - 102)));
    this.position = this.text.length - (cut?.[0].length ?? 0);
    if (this.text.trim() !== '') this.atBeginning = false;
    return { kind: 'more' };
  }
}
