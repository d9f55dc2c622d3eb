import type { AttemptMeta } from './attempt/attempt-meta.js';
import { readSpan } from '../../base/files/index.js';
import type { TrustedRoot, OpenFile } from '../../base/index.js';
import { openRunFolder } from './open-run-folder.js';

/** The last attempt of a run according to its folder. The agent could write there, so it is not proof of anything. */
interface LastAttempt {
  /** The last bytes of its output; a terminal's output counts as stdout. */
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly startedAt: string | null;
  readonly command: readonly string[];
  readonly version: string | null;
}

const EMPTY: LastAttempt = {
  stdout: new Uint8Array(),
  stderr: new Uint8Array(),
  startedAt: null,
  command: [],
  version: null,
};

/**
 * Reads the last output bytes of a run's last attempt, and its command. If the folder cannot be read completely,
 * returns the readable part.
 *
 * @example
 * const { stdout } = await readLastAttempt('data/runs/01J…', 65_536)
 */
export async function readLastAttempt(dir: string, maxBytes: number, root: TrustedRoot = {}): Promise<LastAttempt> {
  try {
    const folder = await openRunFolder(dir, root);
    const attempt = (await folder.attempts()).at(-1);
    if (attempt === undefined) return EMPTY;
    const read = async (stream: 'stdout' | 'stderr' | 'pty') =>
      readLastBytes(async () => folder.openAttempt(stream, attempt), maxBytes).catch(() => new Uint8Array());
    const [stdout, stderr, pty] = await Promise.all([read('stdout'), read('stderr'), read('pty')]);
    const meta: AttemptMeta = await folder.meta(attempt).catch(() => ({}));
    return {
      stdout: stdout.length > 0 ? stdout : pty,
      stderr,
      startedAt: meta.started_at ?? null,
      command: meta.command ?? [],
      version: meta.version ?? null,
    };
  } catch {
    return EMPTY;
  }
}

async function readLastBytes(open: OpenFile, maxBytes: number): Promise<Uint8Array> {
  const handle = await open();
  if (handle === undefined) return new Uint8Array();
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, maxBytes);
    return await readSpan(handle, size - length, length);
  } finally {
    await handle.close();
  }
}
