import * as State from '../reader/state.js';
import * as Step from '../reader/step.js';
import { MAX_UNDECIDED_LENGTH } from '../bounds.js';
import { LANDMARK, LandmarkTracker } from '../find/survey.js';
import type { ReaderPolicy } from '../reader/reader-policy.js';
import { readBareText } from '../reader/bare-token.js';
import { Reader } from '../reader/reader.js';
import { ROOT, ValueBuilder, type ValueLocation } from '../reader/value-builder.js';

/** The start of a landmark whose rest has not arrived. */
const CUT_LANDMARK = /<(?:[^<>]{0,125}|\|channel\|>[^{["]{0,120}|[^<>]{0,20}>\s{0,9}\w{0,20})$/i;
const SCALAR_START = /^[\s\uFEFF]*["\d\-tfn]/;

/** Which unfinished values appear in a snapshot. */
export interface PartialOptions {
  /** Include an incomplete string. Default true. */
  readonly strings?: boolean;
  /** Include an incomplete number if it already is a number: `12` might become `125`. Default false. */
  readonly numbers?: boolean;
  /** Include an incomplete literal. Default false. */
  readonly literals?: boolean;
  /** Include a key before its value has started, with `null`. Default false. */
  readonly keys?: boolean;
}

/** Notified as the value grows; used by streams. */
export interface ValueListener {
  /** The value at this location appeared or grew. */
  changed(location: ValueLocation): void;
  /** The value at this location will never change again. */
  finished(location: ValueLocation, value: unknown): void;
}

/** Builds a value and reports its parts. */
class FollowedBuilder extends ValueBuilder implements ValueListener {
  override readonly runs = undefined;
  declare readonly changed: ValueListener['changed'];
  declare readonly finished: ValueListener['finished'];

  override open(isArray: boolean): void {
    super.open(isArray);
    this.changed(this.top);
  }

  override close(): void {
    const closed = this.top;
    super.close();
    this.finished(closed, closed.contents);
  }

  override place(value: unknown): void {
    super.place(value);
    const location = this.locate();
    this.changed(location);
    this.finished(location, value);
  }

  /** Shows a scalar that is not finished yet. */
  show(value: unknown): void {
    super.place(value);
    this.reopenLast();
    this.changed(this.locate());
  }
}

/**
 * Follows the value in streamed text: skips everything else, reads the value while it arrives, and starts over when a
 * later tag, channel or NDJSON line supersedes it.
 */
export class ValueFollower {
  /** Reads the value while it is unfinished. */
  declare reader: Reader | undefined;
  /** The root is finished; a later root can still supersede it. */
  complete = false;
  readonly #policy: ReaderPolicy;
  readonly #listener: ValueListener;
  readonly #tracker = new LandmarkTracker();
  /** Matches every landmark and every bracket that can start a value. */
  readonly #starts = new RegExp(`${LANDMARK}|[[{]`, 'gi');
  /** Input not passed to a reader, searched up to `#at`. */
  #text = '';
  #at = 0;
  #atBeginning = true;
  /** The reader's input, kept while it might have to be rescanned. */
  #undecided: string | undefined;
  #root: unknown;
  /** The root started a line outside a tag: a later line supersedes it. */
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
      // One character before the position is kept, to detect whether a line starts there.
      const dropped = Math.max(0, this.#at - 1);
      this.#text = this.#text.slice(dropped) + chunk;
      this.#at -= dropped;
    }
    this.#search();
  }

  /** Searches until a value starts or the input ends. */
  #search(): void {
    while (this.reader === undefined) {
      const scalar = this.#atBeginning ? SCALAR_START.exec(this.#text) : null;
      this.#starts.lastIndex = this.#at;
      const match = scalar ?? this.#starts.exec(this.#text);
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
        this.#startValue(this.#at - 1);
      }
    }
  }

  /** Starts a value. A later NDJSON line supersedes the root; a later object in prose does not. */
  #startValue(at: number): void {
    const startsLine = at === 0 || this.#text[at - 1] === '\n';
    if (this.#root !== undefined && !(this.#isLine && startsLine)) return;
    this.#restart();
    this.#isLine = startsLine && !this.#tracker.insideTag;
    this.#undecided = '';
    this.reader = new Reader(this.#policy, 0, Object.assign(new FollowedBuilder(), this.#listener));
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
    const { plausible, isComplete: complete } = structure;
    const failed = cursor.failure !== undefined;
    if (this.#undecided !== undefined) this.#undecided += text;
    if (!failed && !complete) {
      if (plausible || (this.#undecided?.length ?? 0) > MAX_UNDECIDED_LENGTH) this.#undecided = undefined;
      return;
    }
    this.reader = undefined;
    this.#root = reader.value;
    this.complete = complete;
    if (failed && !plausible && this.#undecided !== undefined) {
      // It was not a value: continue the search right after its first character.
      this.#restart();
      this.#text = this.#undecided;
      this.#at = 1;
    } else {
      const before = Math.max(0, cursor.at - 1);
      this.#text = cursor.text.slice(before);
      this.#at = cursor.at - before;
    }
  }

  /** Adds the unfinished part of the value to it, as requested by `options`. */
  showUnfinished(options: PartialOptions): void {
    if (this.reader === undefined) return;
    const { token, cursor, structure, policy } = this.reader;
    const { builder, role, awaitsValue } = structure;
    if (!(builder instanceof FollowedBuilder)) return;
    if (token === undefined) {
      if (awaitsValue && options.keys) builder.show(null);
    } else if (role === State.KEY) {
      return;
    } else if (token !== Step.BARE) {
      if (options.strings) builder.show(token.shown);
    } else if (options.numbers === true || options.literals === true) {
      const reading = readBareText(cursor.text.slice(cursor.at), true, policy);
      if (reading === undefined || !('value' in reading) || typeof reading.value === 'string') return;
      if (typeof reading.value === 'number' ? options.numbers : options.literals) builder.show(reading.value);
    }
  }
}
