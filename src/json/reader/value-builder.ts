import type { Path } from '../repair.js';
import type { Warning } from '../warning.js';

/** Where a value stands, as a link to the container around it: a path is only written out when somebody asks for it. */
export interface Place {
  readonly container: Frame | undefined;
  readonly step: string | number;
}

/** Told about the value while it grows; used by streams. */
export interface ValueListener {
  /** The value at this place appeared or grew. */
  changed(place: Place): void;
  /** The value at this place will never change again. */
  finished(place: Place, value: unknown): void;
}

interface Frame {
  readonly container: unknown[] | Record<string, unknown>;
  readonly isArray: boolean;
  /** Where the container itself stands. */
  readonly place: Place;
  readonly depth: number;
  key: string;
  /** An unfinished value is already shown in its place. */
  shown: boolean;
}

/** The place of the root. */
export const ROOT: Place = { container: undefined, step: '' };

/** Keys and indexes from the root to a place. */
export function pathOf(place: Place): Path {
  const path = new Array<string | number>(depthOf(place));
  for (let at = place; at.container !== undefined; at = at.container.place) path[at.container.depth - 1] = at.step;
  return path;
}

/** The length of a place's path. */
export function depthOf(place: Place): number {
  return place.container?.depth ?? 0;
}

/** More duplicate keys than this are not reported one by one. */
const MOST_DUPLICATES = 100;

/**
 * Puts values in their places while they are read. Open containers grow in place; a container that was closed is never
 * touched again.
 */
export class ValueBuilder {
  root: unknown = undefined;
  readonly duplicates: Warning[] = [];
  private readonly frames: Frame[] = [];
  private readonly listener: ValueListener | undefined;
  private top: Frame | undefined;
  private arrays = 0;

  constructor(listener: ValueListener | undefined) {
    this.listener = listener;
  }

  get depth(): number {
    return this.frames.length;
  }

  get inArray(): boolean {
    return this.top?.isArray === true;
  }

  get inObject(): boolean {
    return this.top?.isArray === false;
  }

  /** Some open container around the innermost one is an array. */
  get arrayAbove(): boolean {
    return this.arrays > (this.inArray ? 1 : 0);
  }

  get objectAbove(): boolean {
    return this.frames.length - this.arrays > (this.inObject ? 1 : 0);
  }

  /** The brackets that would close all that is open. */
  get closingBrackets(): string {
    return this.frames.map((frame) => (frame.isArray ? ']' : '}')).toReversed().join('');
  }

  open(isArray: boolean): void {
    const container = isArray ? [] : {};
    this.put(container);
    const place = this.placeOfValue();
    this.push({ container, isArray, place, depth: this.frames.length + 1, key: '', shown: false });
    this.listener?.changed(place);
  }

  /** Makes the finished root the first item of an array, so that more roots can follow. */
  wrapRoot(): void {
    this.root = [this.root];
    this.push({ container: this.root as unknown[], isArray: true, place: ROOT, depth: 1, key: '', shown: false });
  }

  close(): void {
    const closed = this.frames.pop();
    if (closed?.isArray === true) this.arrays--;
    this.top = this.frames.at(-1);
    if (this.listener !== undefined && closed !== undefined) this.listener.finished(closed.place, closed.container);
  }

  /** Names the next member of the innermost object. */
  setKey(key: string, offset: number): void {
    if (this.top === undefined) return;
    this.top.key = key;
    this.top.shown = false;
    if (Object.hasOwn(this.top.container, key) && this.duplicates.length < MOST_DUPLICATES) {
      const path = pathOf(this.placeOfValue());
      this.duplicates.push({ code: 'DUPLICATE_KEY', message: `the key ${quoted(key)} occurs twice; the last value counts`, offset, path });
    }
  }

  /** Places a finished scalar. */
  place(value: unknown): void {
    this.put(value);
    if (this.top !== undefined) this.top.shown = false;
    if (this.listener === undefined) return;
    const place = this.placeOfValue();
    this.listener.changed(place);
    this.listener.finished(place, value);
  }

  /** Shows a scalar that is not finished yet. */
  show(value: unknown): void {
    this.put(value);
    if (this.top !== undefined) this.top.shown = true;
    this.listener?.changed(this.placeOfValue());
  }

  /** The scalar placed last; undefined if none was. */
  get last(): unknown {
    if (this.top === undefined) return this.root;
    if (Array.isArray(this.top.container)) return this.top.container.at(-1);
    return Object.hasOwn(this.top.container, this.top.key) ? this.top.container[this.top.key] : undefined;
  }

  /** The next value takes the place of the one placed last. */
  reopenLast(): void {
    if (this.top !== undefined) this.top.shown = true;
  }

  private put(value: unknown): void {
    const { top } = this;
    if (top === undefined) {
      this.root = value;
    } else if (Array.isArray(top.container)) {
      if (top.shown) top.container[top.container.length - 1] = value;
      else top.container.push(value);
    } else if (top.key === '__proto__') {
      // A plain assignment would replace the prototype.
      Object.defineProperty(top.container, top.key, { value, writable: true, enumerable: true, configurable: true });
    } else {
      top.container[top.key] = value;
    }
  }

  private push(frame: Frame): void {
    if (this.top !== undefined) this.top.shown = false;
    this.frames.push(frame);
    this.top = frame;
    if (frame.isArray) this.arrays++;
  }

  /** The place of the value put last. */
  private placeOfValue(): Place {
    const { top } = this;
    if (top === undefined) return ROOT;
    return { container: top, step: Array.isArray(top.container) ? top.container.length - 1 : top.key };
  }
}

function quoted(key: string): string {
  return JSON.stringify(key.length > 80 ? `${key.slice(0, 80)}…` : key);
}
