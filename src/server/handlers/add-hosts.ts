import type { Maintenance } from '../../store/index.js';
import { pickHost } from './run-view.js';

/** Adds the machine that has the run folder to each record, with one query for all records. */
export async function addHosts<T extends { readonly run: string }>(
  store: Pick<Maintenance, 'findHosts'>,
  records: readonly T[],
): Promise<(T & { readonly host?: string })[]> {
  const hosts = await store.findHosts(records.map(({ run }) => run));
  return records.map((record) => ({ ...record, ...pickHost(hosts.get(record.run)) }));
}
