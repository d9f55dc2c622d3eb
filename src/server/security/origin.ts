/** The headers by which a browser tells which page asks. */
export interface PageHeaders {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`. */
  readonly site: string | undefined;
}

/**
 * Whether a page of another site asks, with a cookie or merely by being on this machine. A neighbour on another port is
 * another site too. Programs that are no browsers send neither header.
 */
export function isForeignPage({ host, origin, site }: PageHeaders, allowed: readonly string[]): boolean {
  if (origin !== undefined && allowed.includes(origin)) return false;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase());
}
