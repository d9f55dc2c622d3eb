import type { Result, Router } from 'hono/router';
import { TrieRouter } from 'hono/router/trie-router';

/** A router that searches its tree once for each path without parameters, and caches the result. */
export class EndpointRouter<T> implements Router<T> {
  readonly name = 'EndpointRouter';
  readonly #tree = new TrieRouter<T>();
  /** By method and path; undefined until the first request, when all routes are known. */
  readonly #fixed = new Map<string, Result<T> | undefined>();

  add(method: string, path: string, handler: T): void {
    this.#tree.add(method, path, handler);
    if (!/[:*]/.test(path)) this.#fixed.set(`${method} ${path}`, undefined);
  }

  match(method: string, path: string): Result<T> {
    const key = `${method} ${path}`;
    const cached = this.#fixed.get(key);
    if (cached !== undefined) return cached;
    const result = this.#tree.match(method, path);
    if (this.#fixed.has(key)) this.#fixed.set(key, result);
    return result;
  }
}
