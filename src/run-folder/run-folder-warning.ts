/** What the reading of a run folder may have to say besides the events. A closed list. */
export const RUN_FOLDER_WARNING_CODES = [
  'INTERLEAVING_UNKNOWN',
  'TIMING_INCONSISTENT',
  'START_TIME_UNKNOWN',
  'META_IGNORED',
  'FS_DIFF_IGNORED',
  'LOG_LINE_DAMAGED',
] as const;

/** Something about a run folder that the reader should know; reading went on. */
export interface RunFolderWarning {
  readonly code: (typeof RUN_FOLDER_WARNING_CODES)[number];
  readonly message: string;
  readonly attempt?: number;
}
