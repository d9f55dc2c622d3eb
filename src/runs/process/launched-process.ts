import type { StreamName } from '../../events/index.js';
import type { ProcessIdentity } from './process-identity.js';
import type { ProcessEnd } from './running-process.js';

/** Where the output of a process goes. */
export interface OutputSink {
  push(stream: StreamName, bytes: Uint8Array): void;
  /** All streams are closed. */
  end(): void;
}

/** A process just started, through pipes or in a terminal. */
export interface LaunchedProcess {
  readonly identity: ProcessIdentity;
  readonly exited: Promise<ProcessEnd>;
  /** Stops and resumes reading; the process waits when its pipe is full. */
  flow(isFlowing: boolean): void;
  /** Lets go of the output, whoever still holds the other end; the sink's `end` follows. */
  close(): void;
}
