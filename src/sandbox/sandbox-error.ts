/** Why a sandbox cannot be made: on this machine, or for this run. Runs report it as `SANDBOX_UNAVAILABLE`. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  /** Half a sentence. */
  readonly reason: string;

  constructor(reason: string) {
    super(`The run requires a sandbox, and none is available: ${reason}.`);
    this.reason = reason;
  }
}
