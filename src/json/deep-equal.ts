import { isContainer } from './limits.js';

/** Whether two parsed values are the same JSON; depth is bounded by what the readers let through. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (!isContainer(left) || !isContainer(right) || Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  const a = left as Readonly<Record<string, unknown>>;
  const b = right as Readonly<Record<string, unknown>>;
  return keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key], b[key]));
}
