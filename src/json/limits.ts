import type { Limits } from './parse-options.js';

/** The bounds in force: those given, and the defaults for the rest. */
export function resolveLimits(limits: Limits | undefined): Required<Limits> {
  return {
    bytes: limits?.bytes ?? 64 * 1024 * 1024,
    depth: limits?.depth ?? 1000,
    candidates: limits?.candidates ?? 256,
  };
}

/** Whether the text takes more than `limit` bytes in UTF-8. Counts only where the length does not tell. */
export function exceedsBytes(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && new TextEncoder().encode(text).length > limit);
}

/** Whether a value is nested deeper than `limit`, level by level and without recursion. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === limit) return true;
    const below: Readonly<Record<string, unknown>>[] = [];
    for (const container of level) {
      for (const item of Array.isArray(container) ? container : Object.values(container))
        if (isContainer(item)) below.push(item);
    }
    level = below;
  }
  return false;
}

/** Whether a value is an object or an array. */
export function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
