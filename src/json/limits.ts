type Fields = Record<string, unknown>;

/** Whether the text takes more than `limit` bytes in UTF-8. Counts only where the length does not decide it. */
export function exceedsBytes(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && new TextEncoder().encode(text).length > limit);
}

/** Whether a value is nested deeper than `limit`, without recursion and without lists of what it holds. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  const open: Fields[] = [];
  const depths: number[] = [];
  pushContainer(value, 1, open, depths);
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    const depth = depths.pop() ?? 0;
    if (depth > limit) return true;
    if (Array.isArray(container)) {
      for (const item of container) pushContainer(item, depth + 1, open, depths);
    } else {
      for (const key in container) pushContainer(container[key], depth + 1, open, depths);
    }
  }
  return false;
}

function pushContainer(value: unknown, depth: number, open: Fields[], depths: number[]): void {
  if (!isContainer(value)) return;
  open.push(value);
  depths.push(depth);
}

/** Whether a value is an object or an array. */
export function isContainer(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
