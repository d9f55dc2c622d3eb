/** A sandbox cannot be created on this host, or for this run. Runs report it as `SANDBOX_UNAVAILABLE`. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  /** The reason, without an initial capital or a full stop. */
  readonly reason: string;

  constructor(reason: string) {
    super(`The run requires a sandbox, but none is available: ${reason}.`);
    this.reason = reason;
  }
}
