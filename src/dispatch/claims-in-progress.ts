/*
 * Claims that this process is working on. Reconciliation asks here before it takes a run whose lease has expired for
 * orphaned: a stalled process may be late to renew what it still executes.
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
