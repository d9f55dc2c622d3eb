import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';
import { FileError } from '../../../base/index.js';
import { sortMounts, type Mount } from './mount.js';

type Command = readonly [string, ...string[]];

interface Pinned {
  readonly at: string;
  readonly id: string;
}

/** A Linux flag without a constant in Node.js: also opens what cannot be read. */
const O_PATH = 0x20_00_00;
/** Linux limits one argument to 128 KiB; each path is in a script twice, and can be quoted. */
const MAX_PATH_CHARACTERS = 20_000;

/**
 * Returns a function that makes a command start in the sandbox only if the mounts below these folders are the files that
 * they are now. bubblewrap follows links, and an agent in a folder above one of these files could replace it by a link
 * while another run starts. Throws `UNSAFE_FILE` if that has happened already.
 */
export function pinMounts(
  mounts: readonly Mount[],
  isPinned: (from: string) => boolean,
): (command: Command) => Command {
  const chunks: Pinned[][] = [];
  let room = 0;
  for (const mount of sortMounts(mounts)) {
    if ((mount.kind !== 'read' && mount.kind !== 'write') || !isPinned(mount.from)) continue;
    const { at } = mount;
    room -= at.length;
    if (room < 0) {
      chunks.push([]);
      room = MAX_PATH_CHARACTERS - at.length;
    }
    chunks.at(-1)?.push({ at, id: identify(mount.from) });
  }
  return (command) =>
    chunks.reduce<Command>((inner, chunk) => ['/bin/sh', '-c', renderCheck(chunk), 'sh', ...inner], command);
}

/** Returns the device and inode of a file; throws if there is a link on its path. */
function identify(path: string): string {
  let opened: number | undefined;
  try {
    opened = openSync(path, O_PATH | constants.O_NOFOLLOW);
    const { dev, ino } = fstatSync(opened, { bigint: true });
    if (readlinkSync(`/proc/self/fd/${opened}`) === path) return `${dev}:${ino}`;
  } catch (error) {
    throw createReplacedError(path, error);
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
  throw createReplacedError(path);
}

function createReplacedError(path: string, cause?: unknown): FileError {
  const message = `"${path}" was replaced while the sandbox was prepared. Check what else writes there, then try again.`;
  return new FileError('UNSAFE_FILE', message, { cause });
}

/** Not those of the PATH, which could name a folder that an agent has written to. */
const STAT = 'PATH=/usr/bin:/bin:/run/current-system/sw/bin stat -c %d:%i --';

/** Renders the script that checks all files at once, and one by one if they differ: some can be out of the agent's reach. */
function renderCheck(pinned: readonly Pinned[]): string {
  const paths = pinned.map(({ at }) => quote(at));
  return `check() {
  found=$(${STAT} "$1" 2>/dev/null)
  [ "$found" = "$2" ] || { [ -z "$found" ] && [ ! -e "$1" ]; } || {
    echo "\\"$1\\" was replaced while the sandbox was created." >&2
    exit 126
  }
}
[ "$(${STAT} ${paths.join(' ')} 2>/dev/null)" = '${pinned.map(({ id }) => id).join('\n')}' ] || {
${pinned.map(({ id }, index) => `check ${paths[index] ?? ''} ${id}`).join('\n')}
}
exec "$@"`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
