import { MAX_DUPLICATES } from '../bounds.js';
import { isInexact } from '../limits.js';
import type { Path } from '../repair.js';
import type { Warning } from '../result.js';
import { RunFinder, type PlainRun } from './plain-run.js';

/** A value's location, as a link to its container: a path is only built on request. */
export interface ValueLocation {
  readonly container: Frame | undefined;
  readonly step: string | number;
}

/** An open container, which itself has a location. */
interface Frame extends ValueLocation {
  readonly contents: unknown[] | Record<string, unknown>;
  readonly isList: boolean;
  /** Number of open containers from the root to this one. */
  readonly openDepth: number;
  /** Whether an enclosing container is of the other kind. */
  readonly otherAbove: boolean;
  key: string;
  /** The last value placed is unfinished: the next one replaces it. */
  shown: boolean;
}

function createFrame(
  contents: Frame['contents'],
  { container, step }: ValueLocation,
  openDepth: number,
  otherAbove: boolean,
): Frame {
  return { container, step, contents, isList: Array.isArray(contents), openDepth, otherAbove, key: '', shown: false };
}

/**
 * Creates an empty list with capacity for a few items: most lists are short, and V8 would otherwise allocate room for
 * seventeen with the first item.
 */
function createEmptyList(): unknown[] {
  const list: unknown[] = [0, 0, 0];
  while (list.pop() === 0) continue;
  return list;
}

/** The location of the root. */
export const ROOT: ValueLocation = { container: undefined, step: '' };

/** Returns the keys and indexes from the root to a location. */
export function buildPath(location: ValueLocation): Path {
  const path: (string | number)[] = [];
  for (let { container, step } = location; container && container.openDepth > 0; { container, step } = container)
    path.unshift(step);
  return path;
}

/** Builds a value while it is being read. Open containers grow in place; a closed container is never touched again. */
export class ValueBuilder {
  readonly duplicates: Warning[] = [];
  /** Whether a double represents every number so far exactly. */
  isExact = true;
  /** Undefined if every part has to be placed on its own. */
  readonly runs: RunFinder | undefined = new RunFinder();
  /** A container around the root, so the root needs no special case. */
  readonly #roots: unknown[] = [];
  protected top = createFrame(this.#roots, ROOT, 0, false);

  get root(): unknown {
    return this.#roots[0];
  }

  get openDepth(): number {
    return this.top.openDepth;
  }

  get inArray(): boolean {
    return this.top.isList;
  }

  /** Whether a container of the other kind is open around the innermost one. */
  get otherAbove(): boolean {
    return this.top.otherAbove;
  }

  /** Opens a container with these initial `contents`. */
  open(isArray: boolean, contents: Frame['contents'] = isArray ? createEmptyList() : {}): void {
    const { openDepth, isList: inList, otherAbove } = this.top;
    this.#put(contents);
    this.top = createFrame(contents, this.locate(), openDepth + 1, openDepth > 0 && (otherAbove || inList !== isArray));
  }

  close(): void {
    this.top = this.top.container ?? this.top;
  }

  /** Names the next member of the innermost object. */
  setKey(key: string, offset: number): void {
    const top = this.top;
    top.key = key;
    top.shown = false;
    // No value is undefined, and the lookup is much faster than `hasOwn`, which excludes inherited names.
    if ((top.contents as Record<string, unknown>)[key] === undefined || !Object.hasOwn(top.contents, key)) return;
    if (this.duplicates.length >= MAX_DUPLICATES) return;
    const message = `Duplicate key ${JSON.stringify(key.slice(0, 80))}.`;
    this.duplicates.push({ code: 'DUPLICATE_KEY', message, offset, path: buildPath(this.locate()) });
  }

  /** Places a finished scalar. */
  place(value: unknown): void {
    this.#put(value);
  }

  /** Places finished items. */
  placeItems({ items, isExact }: PlainRun): void {
    this.isExact &&= isExact;
    for (const item of items) this.#put(item);
  }

  /** Removes the last item placed in the innermost list. */
  removeLast(): void {
    if (Array.isArray(this.top.contents)) this.top.contents.pop();
  }

  /** The last value placed in the innermost container, or undefined. */
  get last(): unknown {
    const { contents, key } = this.top;
    if (Array.isArray(contents)) return contents.at(-1);
    return Object.hasOwn(contents, key) ? contents[key] : undefined;
  }

  /** Makes the next value replace the last one placed. */
  reopenLast(): void {
    this.top.shown = true;
  }

  #put(value: unknown): void {
    const top = this.top;
    const { contents, key, shown } = top;
    top.shown = false;
    if (isInexact(value)) this.isExact = false;
    if (Array.isArray(contents)) {
      if (shown) contents.pop();
      contents.push(value);
    } else if (key === '__proto__') {
      // A plain assignment would replace the prototype.
      Object.defineProperty(contents, key, { value, writable: true, enumerable: true, configurable: true });
    } else {
      contents[key] = value;
    }
  }

  /** The location of the last value placed. */
  protected locate(): ValueLocation {
    const { contents, key } = this.top;
    return { container: this.top, step: Array.isArray(contents) ? contents.length - 1 : key };
  }
}
