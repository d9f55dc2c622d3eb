import type { Upkeep } from '../../store/index.js';
import { viewHost } from './run-view.js';

/** Adds to records the machine that has the folder of their run, with one query for all. */
export async function withHosts<T extends { readonly run: string }>(
  store: Pick<Upkeep, 'findHosts'>,
  records: readonly T[],
): Promise<(T & { readonly host?: string })[]> {
  const hosts = await store.findHosts(records.map(({ run }) => run));
  return records.map((record) => ({ ...record, ...viewHost(hosts.get(record.run)) }));
}
