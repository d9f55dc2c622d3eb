import type { Maintenance } from '../../store/index.js';
import { pickHost } from './run-view.js';

/** Adds the host that has the run folder to each record, with a single query. */
export async function addHosts<T extends { readonly run: string }>(
  store: Pick<Maintenance, 'findHosts'>,
  records: readonly T[],
): Promise<(T & { readonly host?: string })[]> {
  const hosts = await store.findHosts(records.map(({ run }) => run));
  return records.map((record) => ({ ...record, ...pickHost(hosts.get(record.run)) }));
}
