/** Callbacks by key, called soon after the key is woken. */
export type Wakers = ReturnType<typeof createWakers>;

/** Creates an empty set of callbacks. Each is called in a microtask, so its errors do not fail the command. */
export function createWakers() {
  const sets = new Map<string, Set<() => void>>();
  return {
    watch(key: string, wake: () => void): () => void {
      // Wrapped, so the same function can be registered twice and removed once.
      const entry = (): void => wake();
      const set = sets.get(key) ?? new Set();
      sets.set(key, set.add(entry));
      return () => {
        set.delete(entry);
        if (set.size === 0 && sets.get(key) === set) sets.delete(key);
      };
    },
    wake(key: string): void {
      const set = sets.get(key);
      for (const entry of set ?? []) {
        queueMicrotask(() => {
          if (set?.has(entry) === true) entry();
        });
      }
    },
    keys: (): readonly string[] => [...sets.keys()],
    clear: () => sets.clear(),
  };
}
