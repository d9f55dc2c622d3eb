const buildAddToQueue = (
  condition: string,
): string => `  CREATE TRIGGER add_to_queue AFTER INSERT ON runs WHEN ${condition} BEGIN
    UPDATE runs SET parked = 1 WHERE sequence = NEW.sequence AND (
      EXISTS (
        SELECT 1 FROM runs AS busy INDEXED BY runs_busy
        WHERE busy.folder = NEW.folder AND busy.state IN ('running', 'waiting') AND (busy.exclusive = 1 OR NEW.exclusive = 1))
      OR EXISTS (
        SELECT 1 FROM runs AS ahead INDEXED BY runs_ready_in_folder
        WHERE ahead.folder = NEW.folder AND ahead.state = 'queued' AND ahead.parked = 0 AND ahead.exclusive = NEW.exclusive
          AND ahead.worker_type IS NEW.worker_type AND ahead.priority >= NEW.priority AND ahead.not_before = 0
          AND ahead.sequence <> NEW.sequence));
  END;`;

/**
 * The migration step that made a claim independent of the length of the queue. Like every step, it never changes.
 *
 * A queued run is *parked* while claiming it is pointless: another run of its lane (same folder, exclusive or not, same
 * wrapper type) comes first, or its folder is in use. Parked runs are not in the index that a claim reads. When a run
 * leaves its folder or the queue, a trigger records the folder; the next claim unparks the first run of each of its
 * lanes (`queue.ts`).
 */
export const QUEUE_STEP = `
  ALTER TABLE runs ADD COLUMN parked INTEGER NOT NULL DEFAULT 0;
  DROP INDEX runs_queued;
  DROP INDEX runs_lanes;
  DROP INDEX runs_queued_canceled;
  CREATE INDEX runs_ready ON runs ((coalesce(worker_type, '')), priority DESC, sequence) WHERE state = 'queued' AND parked = 0;
  CREATE INDEX runs_ready_in_folder ON runs (folder) WHERE state = 'queued' AND parked = 0;
  CREATE INDEX runs_parked ON runs (folder, exclusive, (coalesce(worker_type, '')), priority DESC, sequence)
    WHERE state = 'queued' AND parked = 1;
  CREATE INDEX runs_queued_canceled ON runs (priority DESC, sequence) WHERE state = 'queued' AND cancel_requested = 1;
  UPDATE runs SET parked = 1 WHERE sequence IN (
    SELECT sequence FROM (
      SELECT sequence, row_number() OVER (
        PARTITION BY folder, exclusive, coalesce(worker_type, '') ORDER BY priority DESC, sequence) AS place
      FROM runs WHERE state = 'queued' AND not_before = 0)
    WHERE place > 1);

  CREATE TABLE folders_left (folder TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
${buildAddToQueue(`NEW.state = 'queued'`)}
  CREATE TRIGGER leave_folder AFTER UPDATE OF state ON runs
  WHEN OLD.state <> NEW.state AND NEW.state IN ('queued', 'ended') BEGIN
    INSERT OR IGNORE INTO folders_left (folder) SELECT NEW.folder WHERE EXISTS (
      SELECT 1 FROM runs INDEXED BY runs_parked WHERE folder = NEW.folder AND state = 'queued' AND parked = 1);
  END;
  `;

/**
 * The migration step that removed deferred runs, which must not be claimed before a given time, from the indexes that
 * claims read. A claim first admits due runs. They are never parked: parked runs rely on a run of their lane that can
 * be claimed.
 */
export const DEFERRED_RUNS = `
  DROP INDEX runs_ready;
  DROP INDEX runs_ready_in_folder;
  CREATE INDEX runs_ready ON runs ((coalesce(worker_type, '')), priority DESC, sequence)
    WHERE state = 'queued' AND parked = 0 AND not_before = 0;
  CREATE INDEX runs_ready_in_folder ON runs (folder) WHERE state = 'queued' AND parked = 0 AND not_before = 0;
  CREATE INDEX runs_deferred ON runs (not_before) WHERE state = 'queued' AND not_before > 0;
  UPDATE runs SET parked = 0 WHERE state = 'queued' AND not_before > 0;
  DROP TRIGGER add_to_queue;
${buildAddToQueue(`NEW.state = 'queued' AND NEW.not_before = 0`)}
  `;
