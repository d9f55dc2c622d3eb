import type { PlacementCause } from '../../events/index.js';
import type { PLACEMENT_FIELDS, RunSpec } from '../../store/records/index.js';

/**
 * `pending`: it will start, or might. `alive`: its process runs. `gone`: there is proof that no process of it runs or
 * ever will. `unknown`: anything else, such as a place that does not answer, or a namesake.
 */
type PlacementState = 'pending' | 'alive' | 'gone' | 'unknown';

/** Names the place of one run. It is stored, so that another server can go on with it. */
export interface PlacementHandle {
  readonly run: string;
  /** The name at the place: of a process, a container or a pod. */
  readonly name: string;
  /** Distinguishes the place from a later one with the same name. */
  readonly uid?: string;
}

/** A run to be placed: `sluice worker --server SERVER --run ID` is started there with the token. */
export interface PlacedRun extends Pick<RunSpec, (typeof PLACEMENT_FIELDS)[number] | 'labels'> {
  readonly id: string;
  /** The run id of the order that the run carries. */
  readonly order?: string;
  /** The address of the server, as the place reaches it. */
  readonly server: string;
  /** Good for this run only, while it is claimed. It must not be visible to the agent. */
  readonly token: string;
}

/** The state of a place; for `gone`, why, as far as that is known. */
export interface PlacementReport {
  readonly state: PlacementState;
  /** Absent if its process ended by itself. */
  readonly cause?: PlacementCause;
  /** In the words of the place. */
  readonly reason?: string;
}

/** Where runs are executed, other than in a worker that claims them itself. */
export interface Placement {
  /** The name that runs and wrappers use: `kubernetes`. */
  readonly name: string;
  /**
   * Starts the run's place, unless it exists: a repeated call for the same run starts nothing, and returns the same
   * handle. Throws `PlacementError` if the place refuses it for good; any other error is retried.
   */
  place(run: PlacedRun, signal?: AbortSignal): Promise<PlacementHandle>;
  /** Never throws because a place cannot be reached: that is `unknown`. */
  state(handle: PlacementHandle): Promise<PlacementReport>;
  /** Ends the place, at the latest after `graceS` seconds, and removes what is left of it; repeating it is harmless. */
  stop(handle: PlacementHandle, graceS: number): Promise<void>;
  /** Lists all places of this installation, also those that other servers have started. */
  list(): Promise<readonly PlacementHandle[]>;
  /** Calls back when a place might have changed; the duty asks for the state anyway. */
  watch?(onChange: (handle: PlacementHandle) => void): () => void;
  close?(): Promise<void>;
}
