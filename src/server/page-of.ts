import type { Page } from '../orders/index.js';

const DEFAULT_SIZE = 50;

/** Which page of a list a request asks for; the table of endpoints has checked it. */
export function pageOf({ limit, cursor }: Readonly<Record<string, string>>): Page {
  return { limit: limit === undefined ? DEFAULT_SIZE : Number(limit), ...(cursor === undefined ? {} : { cursor }) };
}
