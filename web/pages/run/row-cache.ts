import type { ComponentChildren } from 'preact';

/** More rows than are ever in the page at once. */
const MAX_KEPT = 400;

/** Renders a row, or returns the cached one if nothing that it depends on has changed. */
export type RowCache = (index: number, deps: readonly unknown[], draw: () => ComponentChildren) => ComponentChildren;

/** Keeps what was drawn: rows that stay as they are cost nothing when others come. */
export function createRowCache(): RowCache {
  const kept = new Map<number, { readonly deps: readonly unknown[]; readonly drawn: ComponentChildren }>();
  return (index, deps, draw) => {
    const known = kept.get(index);
    if (known?.deps.every((one, at) => Object.is(one, deps[at])) === true) return known.drawn;
    const drawn = draw();
    kept.delete(index);
    kept.set(index, { deps, drawn });
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT) break;
      kept.delete(oldest);
    }
    return drawn;
  };
}
