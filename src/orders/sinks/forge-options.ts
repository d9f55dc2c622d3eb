/** What writing comments to a forge needs to know. */
export interface ForgeOptions {
  /** An access token that may read and write comments. */
  readonly token: string;
  /** Of an own server; the public one by default. */
  readonly baseUrl?: string;
  readonly name?: string;
  /** Of one request; 20 seconds by default. */
  readonly timeoutMs?: number;
  readonly clock?: () => number;
}

/** A page of a hundred comments of the greatest length stays under this. */
export const MAX_PAGE_BYTES = 128 * 1024 * 1024;
