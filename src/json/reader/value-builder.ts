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
  readonly content: unknown[] | Record<string, unknown>;
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
  const path: (string | number)[] = [];
  for (let at = place; at.container !== undefined; at = at.container.place) path.unshift(at.step);
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
  readonly duplicates: Warning[] = [];
  readonly #listener: ValueListener | undefined;
  /** The root stands in a container of its own, so that no exception need be made for it. */
  readonly #outside: Frame = { content: [], isArray: true, place: ROOT, depth: 0, key: '', shown: false };
  readonly #frames: Frame[] = [];
  #top = this.#outside;
  #arrays = 0;

  constructor(listener: ValueListener | undefined) {
    this.#listener = listener;
  }

  get root(): unknown {
    return Object.values(this.#outside.content)[0];
  }

  get depth(): number {
    return this.#frames.length;
  }

  get inArray(): boolean {
    return this.#top.isArray;
  }

  /** Some open container around the innermost one is an array. */
  get arrayAbove(): boolean {
    return this.#arrays > Number(this.inArray);
  }

  get objectAbove(): boolean {
    return this.depth - this.#arrays > Number(!this.inArray);
  }

  /** Nothing was put into the innermost container yet. */
  get isEmpty(): boolean {
    return Object.keys(this.#top.content).length === 0;
  }

  /** The brackets that would close all that is open. */
  get closingBrackets(): string {
    return this.#frames
      .map(({ isArray }) => (isArray ? ']' : '}'))
      .toReversed()
      .join('');
  }

  open(isArray: boolean): void {
    const content = isArray ? [] : {};
    this.#put(content);
    const place = this.#place();
    this.#top = { content, isArray, place, depth: this.depth + 1, key: '', shown: false };
    this.#frames.push(this.#top);
    this.#arrays += Number(isArray);
    this.#listener?.changed(place);
  }

  /** Makes the finished root the first item of an array, so that more roots can follow. */
  wrapRoot(): void {
    const { root } = this;
    this.reopenLast();
    this.open(true);
    this.#put(root);
  }

  close(): void {
    const { isArray, place, content } = this.#top;
    this.#frames.pop();
    this.#arrays -= Number(isArray);
    this.#top = this.#frames.at(-1) ?? this.#outside;
    this.#listener?.finished(place, content);
  }

  /** Names the next member of the innermost object. */
  setKey(key: string, offset: number): void {
    const top = this.#top;
    top.key = key;
    top.shown = false;
    if (!Object.hasOwn(top.content, key) || this.duplicates.length >= MOST_DUPLICATES) return;
    const message = `the key ${JSON.stringify(key.slice(0, 80))} occurs twice`;
    this.duplicates.push({ code: 'DUPLICATE_KEY', message, offset, path: pathOf({ container: top, step: key }) });
  }

  /** Places a finished scalar. */
  place(value: unknown): void {
    this.#put(value);
    if (this.#listener === undefined) return;
    const place = this.#place();
    this.#listener.changed(place);
    this.#listener.finished(place, value);
  }

  /** Shows a scalar that is not finished yet. */
  show(value: unknown): void {
    this.#put(value);
    this.reopenLast();
    this.#listener?.changed(this.#place());
  }

  /** The scalar placed last; undefined if none was. */
  get last(): unknown {
    const { content, key } = this.#top;
    if (Array.isArray(content)) return content.at(-1);
    return Object.hasOwn(content, key) ? content[key] : undefined;
  }

  /** The next value takes the place of the one placed last. */
  reopenLast(): void {
    this.#top.shown = true;
  }

  #put(value: unknown): void {
    const top = this.#top;
    const { content, key, shown } = top;
    top.shown = false;
    if (Array.isArray(content)) {
      if (shown) content.pop();
      content.push(value);
    } else if (key === '__proto__') {
      // A plain assignment would replace the prototype.
      Object.defineProperty(content, key, { value, writable: true, enumerable: true, configurable: true });
    } else {
      content[key] = value;
    }
  }

  /** The place of the value put last. */
  #place(): Place {
    const { content, key, depth } = this.#top;
    return depth === 0 ? ROOT : { container: this.#top, step: Array.isArray(content) ? content.length - 1 : key };
  }
}
