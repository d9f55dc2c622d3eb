import type { RunFolder } from '../../run-folder/index.js';
import type { StandardSchema } from '../../json/index.js';
import type { RunJournal } from '../capture/run-journal.js';
import type { Launcher } from '../launchers/launcher.js';
import type { DecidedPorts } from '../ports/run-ports.js';
import type { DecidedLimits } from '../spec/run-limits.js';
import type { RunSpec } from '../../records/index.js';
import type { RunControl } from './run-control.js';
import type { RunUsage } from './run-usage.js';

/** What all attempts of a run share. */
export interface RunContext {
  readonly id: string;
  readonly spec: RunSpec;
  readonly schema: StandardSchema | undefined;
  readonly limits: DecidedLimits;
  readonly ports: DecidedPorts;
  readonly launcher: Launcher;
  readonly control: RunControl;
  readonly usage: RunUsage;
  readonly journal: RunJournal;
  readonly folder: RunFolder;
  /** Absolute and without links, as agents compare paths. */
  readonly runDir: string;
  readonly progress: RunProgress;
}

/** How far a run has come; each attempt moves it on. */
export interface RunProgress {
  /** Attempts that were begun. */
  attempts: number;
  /** The last FCMP number that was used. */
  fcmpSeq: number;
  /** Bytes that were printed. */
  printed: number;
  /** Answers of a person. */
  replies: number;
  /** The session the engine named last. */
  sessionId: string | null;
}

/** How the run is to be read and judged. */
export function modeOf({ spec }: Pick<RunContext, 'spec'>): 'auto' | 'interactive' {
  return spec.mode ?? 'auto';
}
