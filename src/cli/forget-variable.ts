import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

/**
 * Removes an environment variable from this process and from `/proc/<pid>/environ`, which shows every process of the
 * same user the environment that a process was started with. Returns false if it is still visible there.
 */
export function forgetVariable(name: string): boolean {
  Reflect.deleteProperty(process.env, name);
  if (process.platform !== 'linux') return true;
  try {
    return eraseFromMemory(`${name}=`);
  } catch {
    return false;
  }
}

/** The positions of the environment in `/proc/self/stat`, counted from the state, which follows the program's name. */
const ENVIRONMENT_START = 47;
const ENVIRONMENT_END = 48;

/** Overwrites a variable in the memory that `/proc/<pid>/environ` shows. Nothing else uses it once it is unset. */
function eraseFromMemory(prefix: string): boolean {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [start, end] = [Number(fields[ENVIRONMENT_START]), Number(fields[ENVIRONMENT_END])];
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || end <= start) return false;
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    const environment = Buffer.alloc(end - start);
    readSync(memory, environment, 0, environment.length, start);
    for (let at = 0; at < environment.length;) {
      const close = environment.indexOf(0, at);
      const next = close === -1 ? environment.length : close;
      if (environment.subarray(at, next).toString('latin1').startsWith(prefix)) {
        writeSync(memory, Buffer.alloc(next - at), 0, next - at, start + at);
      }
      at = next + 1;
    }
  } finally {
    closeSync(memory);
  }
  return !readFileSync('/proc/self/environ').includes(prefix);
}
