import type { RawRef } from '../../../src/events/index.js';

/** How long the captured streams of a run are, by the names of their files. */
export function streamSizes(
  files: readonly { readonly name: string; readonly size: number }[],
): readonly { readonly name: Pick<RawRef, 'attempt_number' | 'stream'>; readonly size: number }[] {
  return files.flatMap(({ name, size }) => {
    const [, file, attempt] = /^(stdout|stderr|pty-output)\.(\d{1,9})\.log$/.exec(name) ?? [];
    if (file === undefined) return [];
    const stream = file === 'pty-output' ? 'pty' : file === 'stderr' ? 'stderr' : 'stdout';
    return [{ name: { attempt_number: Number(attempt), stream }, size }];
  });
}
