/** The tables in the order of their references, each with its key, and the columns that can be large. */
export const STORED_TABLES: readonly StoredTable[] = [
  { name: 'installation', key: ['number'], large: [] },
  { name: 'issues', key: ['seq'], large: [] },
  { name: 'orders', key: ['seq'], large: ['work_order', 'entry', 'result'] },
  { name: 'executions', key: ['seq'], large: ['record'] },
  { name: 'inbox', key: ['seq'], large: ['item'] },
  { name: 'outbox', key: ['seq'], large: ['body'] },
  { name: 'runs', key: ['seq'], large: ['spec', 'result'] },
  { name: 'run_digests', key: ['seq'], large: ['words'] },
  { name: 'runs_to_count', key: ['seq'], large: [] },
  { name: 'run_slots', key: ['length', 'at', 'engine'], large: ['counts'] },
  { name: 'inbox_slots', key: ['length', 'at'], large: ['counts'] },
  { name: 'counted', key: ['id'], large: [] },
  { name: 'repository_starts', key: ['run'], large: ['start'] },
  { name: 'event_packs', key: ['run_id', 'protocol', 'attempt', 'last_seq'], large: ['body'] },
  { name: 'results', key: ['seq'], large: ['entry'] },
  { name: 'workers', key: ['id'], large: [] },
  { name: 'budget_entries', key: ['run'], large: [] },
];

/** Tables that belong to one database only, or that triggers fill. */
export const UNCOPIED_TABLES: readonly string[] = [
  'budget_totals',
  'folders_left',
  'followers',
  'job_leases',
  'queue_watchers',
  'schema_versions',
  'transfer',
];

export interface StoredTable {
  readonly name: string;
  readonly key: readonly string[];
  readonly large: readonly string[];
}
