import { RequestError } from './request-error.js';

/** Stands in for a handler until it is there. */
export async function notBuilt(): Promise<never> {
  throw new RequestError('NOT_BUILT', 'This is not built yet.');
}
