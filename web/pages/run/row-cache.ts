import type { ComponentChildren } from 'preact';

/** The maximum number of cached rows, more than the page ever shows at once. */
const MAX_ROWS = 400;

/** Renders a row, or returns the cached row if its dependencies have not changed. */
type RowCache = (index: number, dependencies: readonly unknown[], draw: () => ComponentChildren) => ComponentChildren;

/** Creates a cache of rendered rows, so unchanged rows cost nothing when others are added. */
export function createRowCache(): RowCache {
  const cached = new Map<number, { readonly dependencies: readonly unknown[]; readonly rendered: ComponentChildren }>();
  return (index, dependencies, draw) => {
    const cachedRow = cached.get(index);
    if (cachedRow?.dependencies.every((dependency, at) => Object.is(dependency, dependencies[at])) === true)
      return cachedRow.rendered;
    const rendered = draw();
    cached.delete(index);
    cached.set(index, { dependencies, rendered });
    for (const oldest of cached.keys()) {
      if (cached.size <= MAX_ROWS) break;
      cached.delete(oldest);
    }
    return rendered;
  };
}
