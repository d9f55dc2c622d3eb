/*
 * Claims that this process is working on. Reconciliation checks them before it treats a run with an expired lease as
 * orphaned: a stalled process can be late to renew the lease of a run that it is still executing.
 */
const inProgress = new Set<string>();

/** Marks a claim as being worked on while `work` runs. */
export async function whileInProgress<T>(workerId: string, work: () => Promise<T>): Promise<T> {
  inProgress.add(workerId);
  try {
    return await work();
  } finally {
    inProgress.delete(workerId);
  }
}

export function isInProgress(workerId: string): boolean {
  return inProgress.has(workerId);
}
