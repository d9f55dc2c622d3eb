import * as State from './state.js';
import * as Step from './step.js';
import { MAX_COMMENT_LENGTH, MAX_FENCE_LENGTH } from '../bounds.js';
import { skipSpace } from './character.js';
import type { Source } from './source.js';

/** The state of the structure around the filler. */
interface FillerContext {
  readonly due: State.Due;
  /** Whether a fence after the start of the value is skipped as a mistake; otherwise the input ends there. */
  readonly rootMustEnd: boolean;
  readonly builder: { readonly openDepth: number };
}

/**
 * Filler that JSON does not allow: no-break and zero-width spaces, the byte order mark, terminal colours, block quotes.
 */
const NON_JSON_SPACE = /\\(?:[nrt]|(?=[[\]]))|[\s\u180e\u200b-\u200d\u2060]|\p{Cc}\[[\d;]{0,32}[A-Za-z]|(?<=\n|^)>/uy;
const FENCE = /```[ \t]*[\w+-]*/y;
/** Markdown around a key or a value. Two underscores count only if they cannot be part of a name. */
const EMPHASIS = /\*\*|__(?=["\d-]|(?:true|false|null)__|\s{0,64}(?:[:,}\]]|$))/y;
/** A comment, or words, in place of further items. */
export const AND_SO_ON =
  /^[\s/*#-]*(\.{2,}|…)|\b(and so (on|forth)|etc\b|(and )?(\d+|many|several) (more|others)|and more\W*$|continue the same|more (items|entries|rows|records|elements)|(entries|items|others|records|remaining|rest(lichen)?|rows)\b.{0,30}\b(follow|here|omitted|skipped|truncated|weggelassen)|omitted for|usw\b)|^\W+(omitted|snip|truncated|weitere)\b|省略|^等$|等等|以下同|以此类推/i;
const CUT_EMPHASIS = /_\w{0,9}\s{0,64}$/y;

/** Skips what is between tokens: white space, comments, Markdown fences. */
export class Filler {
  readonly #source: Source;
  /** The delimiter that ends the open comment, and the start of the comment. */
  #commentEnd = '';
  #comment = '';

  constructor(source: Source) {
    this.#source = source;
  }

  /**
   * Moves to the next significant character and returns it, or an empty string if none has arrived. `due` matters
   * because a value can start with `#`, and a fence after the first bracket encloses the whole value.
   */
  skip(context: FillerContext): string {
    const source = this.#source;
    for (;;) {
      if (this.#commentEnd !== '' && !this.#endComment(context)) return '';
      source.at = skipSpace(source.text, source.at);
      const char = source.char();
      const code = char.charCodeAt(0);
      if (code > 0x20 && code < 0x7f && !'/#`\\*<>_'.includes(char)) return char;
      const step = this.#skipPart(char, context);
      if (step !== Step.CONTINUE) return step === Step.WAIT ? '' : char;
    }
  }

  #skipPart(char: string, context: FillerContext): Step.FillerStep {
    const source = this.#source;
    if (char === '`') return this.#skipFence(context);
    if (!source.has(char === '<' ? 4 : 2) || (!source.final && source.matchHere(CUT_EMPHASIS) !== -1)) return Step.WAIT;
    const next = source.char(1);
    const space = source.matchHere(NON_JSON_SPACE);
    if (space !== -1) {
      source.repair('whitespace', source.at, space);
      source.at += space;
      return Step.CONTINUE;
    }
    if (source.matchHere(EMPHASIS) !== -1) {
      source.repair('markdown', source.at, 2);
      source.at += 2;
      return Step.CONTINUE;
    }
    // `#fff` where a value is expected is content; `# note` is a comment anywhere.
    const isHtml = source.text.startsWith('<!--', source.at);
    const isComment =
      isHtml || (char === '#' ? context.due === State.OTHER || next.trim() === '' : char === '/' && /[/*]/.test(next));
    if (!isComment) return Step.TOKEN;
    source.repair('comment', source.at, 2);
    this.#commentEnd = isHtml ? '-->' : next === '*' && char === '/' ? '*/' : '\n';
    source.at += 2;
    return Step.CONTINUE;
  }

  /** Reads to the end of the open comment; false if the input ends first. */
  #endComment(context: FillerContext): boolean {
    const source = this.#source;
    const { text, at } = source;
    const end = this.#commentEnd;
    const isBlock = end !== '\n';
    const found = text.indexOf(end, isBlock ? at : at - 1);
    // The last characters might be the start of the comment's end.
    let partialLength = found === -1 ? end.length - 1 : 0;
    while (!text.endsWith(end.slice(0, partialLength))) partialLength--;
    source.at = found === -1 ? Math.max(at, text.length - partialLength) : found + (isBlock ? end.length : 0);
    this.#comment += text.slice(at, Math.min(source.at, at + MAX_COMMENT_LENGTH - this.#comment.length));
    if (found === -1 && !source.final) return false;
    if (context.builder.openDepth > 0 && AND_SO_ON.test(this.#comment)) source.elide();
    this.#commentEnd = this.#comment = '';
    return found !== -1;
  }

  #skipFence({ due, rootMustEnd }: FillerContext): Step.FillerStep {
    const source = this.#source;
    if (!source.text.startsWith('```', source.at)) return source.has(3) ? Step.TOKEN : Step.WAIT;
    if (due === State.FIRST) {
      source.fail();
      return Step.TOKEN;
    }
    // After a colon or a comma a fence replaces quotes; at the start of a line it ends the block.
    if (due === State.VALUE && /[:,[][ \t]{0,9}$/.test(source.text.slice(0, source.at).slice(-10))) return Step.TOKEN;
    if (!rootMustEnd && due !== State.ROOT) {
      source.endHere();
      return Step.WAIT;
    }
    const length = source.matchHere(FENCE);
    if (!source.has(length + 1) && length < MAX_FENCE_LENGTH) return Step.WAIT;
    source.repair('markdown', source.at, length);
    source.at += length;
    return Step.CONTINUE;
  }
}
