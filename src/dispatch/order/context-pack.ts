import type { WorkOrder } from '../../records/index.js';

/** A file for the run folder, its name relative to it. */
export interface PackFile {
  readonly path: string;
  readonly text: string;
}

/** The files a worker finds in its run folder: the order, and what belongs to it where there is something to say. */
export function contextPackOf(order: WorkOrder): readonly PackFile[] {
  const links = [
    ...(order.spec_ref === undefined ? [] : [`Specification: ${order.spec_ref}`]),
    ...(order.contracts_ref === undefined ? [] : [`Contracts: ${order.contracts_ref}`]),
    ...(order.depends_on ?? []).map((issue) => `Depends on: ${issue}`),
    ...(order.links ?? []),
  ];
  return [
    { path: 'work_order.json', text: `${JSON.stringify(order, null, 2)}\n` },
    ...(order.spec_snapshot === undefined ? [] : [{ path: 'spec_snapshot.md', text: order.spec_snapshot }]),
    ...listFile('constraints.md', order.constraints ?? []),
    ...listFile('links.md', links),
  ];
}

function listFile(path: string, entries: readonly string[]): readonly PackFile[] {
  if (entries.length === 0) return [];
  return [{ path, text: `${entries.map((entry) => `- ${entry.replaceAll('\n', '\n  ')}`).join('\n')}\n` }];
}
