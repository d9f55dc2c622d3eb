import { Reader } from '../reader/reader.js';
import type { ReaderPolicy } from '../reader/reader-policy.js';
import { ROOT, type ValueListener } from '../reader/value-builder.js';
import { Locator } from './locator.js';

/** Text of a value that may yet turn out to be none is kept up to this length, to look through it again. */
const LONGEST_DOUBT = 4096;

/**
 * Follows the value in a streaming text: passes over what is no answer, reads the value as it comes, and starts again
 * when a later tag, channel or line of NDJSON supersedes it.
 */
export class ValueFollower {
  private readonly locator = new Locator();
  private readonly policy: ReaderPolicy;
  private readonly listener: ValueListener;
  private reader: Reader | undefined;
  /** The text the reader was given, while it may have to be looked through again; undefined once that is settled. */
  private doubted: string | undefined;
  private current: unknown;
  private finished = false;
  private startedLine = false;
  private marked = false;

  constructor(policy: ReaderPolicy, listener: ValueListener) {
    this.policy = policy;
    this.listener = listener;
  }

  get value(): unknown {
    return this.reader === undefined ? this.current : this.reader.value;
  }

  /** The root is finished; a later one may still supersede it. */
  get complete(): boolean {
    return this.finished;
  }

  get reading(): Reader | undefined {
    return this.reader;
  }

  push(chunk: string): void {
    if (this.reader !== undefined) {
      this.feed(this.reader, chunk);
    } else {
      this.locator.append(chunk);
      this.look();
    }
  }

  private look(): void {
    while (this.reader === undefined) {
      const sighting = this.locator.next();
      if (sighting.kind === 'more') return;
      if (sighting.kind === 'restart') {
        this.restart();
      } else if (!this.hasRoot || this.supersedes(sighting)) {
        if (this.hasRoot) this.restart();
        this.startedLine = sighting.lineStart;
        this.marked = sighting.marked;
        this.start(sighting.at);
      }
    }
  }

  private get hasRoot(): boolean {
    return this.current !== undefined;
  }

  /** A further line of NDJSON counts; a further object in prose does not. */
  private supersedes(sighting: { readonly lineStart: boolean }): boolean {
    return !this.marked && this.startedLine && sighting.lineStart;
  }

  private restart(): void {
    this.finished = false;
    if (!this.hasRoot) return;
    this.current = undefined;
    this.listener.changed(ROOT);
  }

  private start(at: number): void {
    this.reader = new Reader(this.policy, 0, this.listener);
    this.doubted = '';
    this.feed(this.reader, this.locator.rest(at));
  }

  private feed(reader: Reader, text: string): void {
    reader.push(text);
    if (this.doubted !== undefined) this.doubted += text;
    const { plausible, complete } = reader.structure;
    const failed = reader.source.failure !== undefined;
    if (failed && !plausible && this.doubted !== undefined) {
      this.giveUp(this.doubted);
      return;
    }
    if (plausible || (this.doubted?.length ?? 0) > LONGEST_DOUBT) this.doubted = undefined;
    this.current = reader.value;
    if (complete || failed) this.leave(reader, complete);
  }

  /** It was no value: looks on right behind its first character. */
  private giveUp(text: string): void {
    this.reader = undefined;
    if (this.hasRoot) this.restart();
    this.locator.resume(text, 1);
    this.look();
  }

  /** The value is finished, or broken beyond reading: looks on behind it. */
  private leave(reader: Reader, complete: boolean): void {
    this.finished = complete;
    this.reader = undefined;
    const { text, position } = reader.source;
    const before = Math.max(0, position - 1);
    this.locator.resume(text.slice(before), position - before);
    this.look();
  }
}
