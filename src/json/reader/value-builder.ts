import { MAX_DUPLICATES } from '../bounds.js';
import type { Path } from '../repair.js';
import type { Warning } from '../result.js';

/** The place of a value, as a link to the container around it: a path is only built on request. */
export interface Place {
  readonly container: Frame | undefined;
  readonly step: string | number;
}

/** Notified about the value while it grows; used by streams. */
export interface ValueListener {
  /** The value at this place appeared or grew. */
  changed(place: Place): void;
  /** The value at this place will never change again. */
  finished(place: Place, value: unknown): void;
}

/** An open container, which has a place itself. */
interface Frame extends Place {
  readonly content: unknown[] | Record<string, unknown>;
  readonly isList: boolean;
  /** Open containers from the root to this one. */
  readonly depth: number;
  /** One of the containers around it is of the other kind. */
  readonly otherAbove: boolean;
  key: string;
  /** An unfinished value is already shown in its place. */
  shown: boolean;
}

function createFrame(content: Frame['content'], { container, step }: Place, depth: number, otherAbove: boolean): Frame {
  return { container, step, content, isList: Array.isArray(content), depth, otherAbove, key: '', shown: false };
}

/** An empty list with capacity for a few items: most lists are short, and V8 would otherwise allocate seventeen with the first item. */
function createEmptyList(): unknown[] {
  const list: unknown[] = [0, 0, 0];
  while (list.pop() === 0) continue;
  return list;
}

/** The place of the root. */
export const ROOT: Place = { container: undefined, step: '' };

/** Keys and indexes from the root to a place. */
export function buildPath(place: Place): Path {
  const path: (string | number)[] = [];
  for (let { container, step } = place; container !== undefined && container.depth > 0; { container, step } = container)
    path.unshift(step);
  return path;
}

/**
 * Puts values in their places while they are read. Open containers grow in place; a container that was closed is never
 * touched again.
 */
export class ValueBuilder {
  readonly duplicates: Warning[] = [];
  readonly #listener: ValueListener | undefined;
  /** The root is in a container as well, so that it needs no special case. */
  readonly #outside = createFrame([], ROOT, 0, false);
  #top = this.#outside;

  constructor(listener: ValueListener | undefined) {
    this.#listener = listener;
  }

  get root(): unknown {
    return Object.values(this.#outside.content)[0];
  }

  get depth(): number {
    return this.#top.depth;
  }

  get inArray(): boolean {
    return this.#top.isList;
  }

  /** A container of the other kind is open around the innermost one. */
  get otherAbove(): boolean {
    return this.#top.otherAbove;
  }

  /** Opens a container; `content`: what it holds already. */
  open(isArray: boolean, content: Frame['content'] = isArray ? createEmptyList() : {}): void {
    const { depth, isList: inList, otherAbove } = this.#top;
    this.#put(content);
    this.#top = createFrame(content, this.#place(), depth + 1, depth > 0 && (otherAbove || inList !== isArray));
    this.#listener?.changed(this.#top);
  }

  close(): void {
    const closed = this.#top;
    this.#top = closed.container ?? closed;
    this.#listener?.finished(closed, closed.content);
  }

  /** Names the next member of the innermost object. */
  setKey(key: string, offset: number): void {
    const top = this.#top;
    top.key = key;
    top.shown = false;
    if (!Object.hasOwn(top.content, key) || this.duplicates.length >= MAX_DUPLICATES) return;
    const message = `Duplicate key ${JSON.stringify(key.slice(0, 80))}.`;
    this.duplicates.push({ code: 'DUPLICATE_KEY', message, offset, path: buildPath(this.#place()) });
  }

  /** Places a finished scalar. */
  place(value: unknown): void {
    this.#put(value);
    if (this.#listener === undefined) return;
    const place = this.#place();
    this.#listener.changed(place);
    this.#listener.finished(place, value);
  }

  /** Places finished items. Only without a listener. */
  placeItems(items: readonly unknown[]): void {
    for (const item of items) this.#put(item);
  }

  /** Shows a scalar that is not finished yet. */
  show(value: unknown): void {
    this.#put(value);
    this.reopenLast();
    this.#listener?.changed(this.#place());
  }

  /** Removes the item placed last in the innermost list. */
  removeLast(): void {
    if (Array.isArray(this.#top.content)) this.#top.content.pop();
  }

  /** The value placed last in the innermost container; undefined if none was. */
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
    const { content, key } = this.#top;
    return { container: this.#top, step: Array.isArray(content) ? content.length - 1 : key };
  }
}
