import * as State from '../reader/state.js';
import * as Step from '../reader/step.js';
import { MAX_UNDECIDED_LENGTH } from '../bounds.js';
import { LANDMARK, LandmarkTracker } from '../find/survey.js';
import type { ReaderPolicy } from '../reader/reader-policy.js';
import { readBareText } from '../reader/bare-token.js';
import { Reader } from '../reader/reader.js';
import { ROOT, type ValueListener } from '../reader/value-builder.js';

/** Finds every landmark and every bracket a value may begin with. */
const LANDMARKS_AND_BRACKETS = /* @__PURE__ */ new RegExp(`${LANDMARK}|[[{]`, 'gi');
/** The beginning of a landmark whose rest has not arrived. */
const CUT_LANDMARK = /<(?:[^<>]{0,125}|\|channel\|>[^{["]{0,120})$/i;
const SCALAR_START = /^[\s\uFEFF]*["\d\-tfn]/;

/** The unfinished values that appear in a snapshot. */
export interface PartialOptions {
  /** Include an incomplete string. Default true. */
  readonly strings?: boolean;
  /** Include an incomplete number, if it is a number already: `12` may become `125`. Default false. */
  readonly numbers?: boolean;
  /** A literal before it is complete. Default false. */
  readonly literals?: boolean;
  /** A key before its value has begun, with `null`. Default false. */
  readonly keys?: boolean;
}

/**
 * Follows the value in a streaming text: skips what is not the answer, reads the value while it arrives, and starts again
 * when a later tag, channel or line of NDJSON supersedes it.
 */
export class ValueFollower {
  /** Reads the value while it is unfinished. */
  reader: Reader | undefined;
  /** The root is finished; a later one may still supersede it. */
  complete = false;
  readonly #policy: ReaderPolicy;
  readonly #listener: ValueListener;
  readonly #tracker = new LandmarkTracker();
  /** Text not given to a reader, looked through up to `#at`. */
  #text = '';
  #at = 0;
  #atBeginning = true;
  /** The input of the reader, kept while it may have to be scanned again. */
  #doubted: string | undefined;
  #root: unknown;
  /** The root began a line, and no tag: a further line supersedes it. */
  #isLine = false;

  constructor(policy: ReaderPolicy, listener: ValueListener) {
    this.#policy = policy;
    this.#listener = listener;
  }

  get value(): unknown {
    return this.reader === undefined ? this.#root : this.reader.value;
  }

  push(chunk: string): void {
    if (this.reader !== undefined) {
      this.#feed(this.reader, chunk);
    } else {
      // One character before the place is kept to know whether a line begins there.
      const dropped = Math.max(0, this.#at - 1);
      this.#text = this.#text.slice(dropped) + chunk;
      this.#at -= dropped;
    }
    this.#look();
  }

  /** Looks on until a value is being read or the text ends. */
  #look(): void {
    while (this.reader === undefined) {
      const scalar = this.#atBeginning ? SCALAR_START.exec(this.#text) : null;
      LANDMARKS_AND_BRACKETS.lastIndex = this.#at;
      const match = scalar ?? LANDMARKS_AND_BRACKETS.exec(this.#text);
      if (match === null) {
        if (this.#text.trim() !== '') this.#atBeginning = false;
        this.#at = this.#text.length - (CUT_LANDMARK.exec(this.#text.slice(this.#at).slice(-160))?.[0].length ?? 0);
        return;
      }
      this.#atBeginning = false;
      this.#at = match.index + match[0].length;
      if (scalar === null && match[0].length > 1) {
        const event = this.#tracker.pass(match);
        if (event === 'restart' || event === 'open') this.#restart();
      } else if (!this.#tracker.hidden) {
        this.#meet(this.#at - 1);
      }
    }
  }

  /** A value may begin here. A further line of NDJSON supersedes the root; a further object in prose does not. */
  #meet(at: number): void {
    const beginsLine = at === 0 || this.#text[at - 1] === '\n';
    if (this.#root !== undefined && !(this.#isLine && beginsLine)) return;
    this.#restart();
    this.#isLine = beginsLine && !this.#tracker.insideTag;
    this.#doubted = '';
    this.reader = new Reader(this.#policy, 0, this.#listener);
    this.#feed(this.reader, this.#text.slice(at));
  }

  #restart(): void {
    this.complete = false;
    if (this.#root === undefined) return;
    this.#root = undefined;
    this.#listener.changed(ROOT);
  }

  #feed(reader: Reader, text: string): void {
    reader.push(text);
    const { cursor, structure } = reader;
    const { plausible, complete } = structure;
    const failed = cursor.failure !== undefined;
    if (this.#doubted !== undefined) this.#doubted += text;
    if (!failed && !complete) {
      if (plausible || (this.#doubted?.length ?? 0) > MAX_UNDECIDED_LENGTH) this.#doubted = undefined;
      return;
    }
    this.reader = undefined;
    this.#root = reader.value;
    this.complete = complete;
    if (failed && !plausible && this.#doubted !== undefined) {
      // It was not a value: continue the search right after its first character.
      this.#restart();
      this.#text = this.#doubted;
      this.#at = 1;
    } else {
      const before = Math.max(0, cursor.at - 1);
      this.#text = cursor.text.slice(before);
      this.#at = cursor.at - before;
    }
  }
}

/** Shows what a reader has not finished yet in its place, as far as `options` ask for it. */
export function showUnfinished({ token, cursor, structure, policy }: Reader, options: PartialOptions): void {
  const { builder, role, awaitsValue } = structure;
  if (token === undefined) {
    if (awaitsValue && options.keys === true) builder.show(null);
  } else if (role === State.KEY) {
    return;
  } else if (token !== Step.BARE) {
    if (options.strings === true) builder.show(token.shown);
  } else {
    const reading = readBareText(cursor.text.slice(cursor.at), true, policy);
    if (reading === undefined || !('value' in reading) || typeof reading.value === 'string') return;
    if (typeof reading.value === 'number' ? options.numbers : options.literals) builder.show(reading.value);
  }
}
