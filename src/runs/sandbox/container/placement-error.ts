/** Why a container or a pod could not be started, or was lost. */
export type PlacementFailureCause = 'evicted' | 'image' | 'node_lost' | 'oom' | 'preempted' | 'quota' | 'unknown';

/** The place of a process failed, not the process itself. */
export interface PlacementFailure {
  readonly cause: PlacementFailureCause;
  /** The engine's own reason, without an initial capital or a full stop. */
  readonly reason: string;
}

/** A container or a pod cannot be started. Runs report it as `PLACEMENT_FAILED`. */
export class PlacementError extends Error implements PlacementFailure {
  override readonly name = 'PlacementError';
  override readonly cause: PlacementFailureCause;
  readonly reason: string;

  constructor(cause: PlacementFailureCause, reason: string) {
    super(describePlacementFailure({ cause, reason }));
    this.cause = cause;
    this.reason = reason;
  }
}

const ADVICE: Readonly<Record<PlacementFailureCause, string>> = {
  evicted: 'Run it again.',
  image: 'Check the name of the image, load it ("podman pull", "podman load"), and check that it contains the agent.',
  node_lost: 'Run it again.',
  oom: 'Raise "memory", or give the agent a smaller task.',
  preempted: 'Run it again.',
  quota: 'Ask for less, or wait until other runs have ended.',
  unknown: 'Check the container engine of this host.',
};

export function describePlacementFailure({ cause, reason }: PlacementFailure): string {
  return `The container failed: ${reason.replace(/[.\s]+$/, '')}. ${ADVICE[cause]}`;
}
