import { createHash } from 'node:crypto';
import type { CachedResult } from '../ports/result-cache.js';

/** An entry as text, with what it takes to notice that it was damaged. */
export function writeCacheEntry(key: string, entry: CachedResult): string {
  const text = JSON.stringify(entry);
  return `${JSON.stringify({ key, sha256: hashOf(text) })}\n${text}\n`;
}

/** Reads an entry; undefined if it is not whole, of another key, or of a shape that can be no result. */
export function readCacheEntry(key: string, text: string): CachedResult | undefined {
  const [head = '', body = ''] = text.split('\n');
  try {
    const { key: named, sha256 } = JSON.parse(head) as Record<string, unknown>;
    if (named !== key || sha256 !== hashOf(body)) return undefined;
    const entry = JSON.parse(body) as Partial<CachedResult> | null;
    const isWhole = typeof entry?.run_id === 'string' && entry.result?.status === 'success';
    return isWhole ? (entry as CachedResult) : undefined;
  } catch {
    return undefined;
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
