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
  if (text.length > limit || text.length * 3 <= limit) return text.length > limit;
  return new TextEncoder().encode(text).length > limit;
}

/** Whether a value is nested deeper than `limit`, without recursion. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const open: object[] = [value];
  const depths: number[] = [1];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    const depth = depths.pop() ?? 0;
    if (depth > limit) return true;
    if (Array.isArray(container)) {
      for (const item of container) pushContainer(item, depth + 1, open, depths);
    } else {
      const fields = container as Readonly<Record<string, unknown>>;
      for (const key in fields) pushContainer(fields[key], depth + 1, open, depths);
    }
  }
  return false;
}

function pushContainer(value: unknown, depth: number, open: object[], depths: number[]): void {
  if (typeof value !== 'object' || value === null) return;
  open.push(value);
  depths.push(depth);
}
