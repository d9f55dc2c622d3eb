import { basename, resolve } from 'node:path';
import type { ConfigFile } from './config.js';

type Programs = NonNullable<ConfigFile['programs']>;

/**
 * The settings with every path in them counted from a folder, that of their file.
 *
 * @example
 * placePaths('/etc/sluice', { data: 'data', programs: { codex: 'codex' } }) // { data: '/etc/sluice/data', programs: … }
 */
export function placePaths(base: string, settings: ConfigFile): ConfigFile {
  const { data, database, roots, sinks, programs } = settings;
  return {
    ...settings,
    ...(data === undefined ? {} : { data: resolve(base, data) }),
    ...(database === undefined ? {} : { database: placeDatabase(base, database) }),
    ...(roots === undefined ? {} : { roots: roots.map((root) => resolve(base, root)) }),
    ...(sinks === undefined ? {} : { sinks: sinks.map((sink) => placeSink(base, sink)) }),
    ...(programs === undefined ? {} : { programs: placePrograms(base, programs) }),
  };
}

/** `sqlite:` names a file; other addresses are what they are. */
function placeDatabase(base: string, database: string): string {
  const file = /^sqlite:(?<file>.+)$/s.exec(database)?.groups?.['file'];
  return file === undefined ? database : `sqlite:${resolve(base, file)}`;
}

function placeSink<Sink extends { readonly dir?: string }>(base: string, sink: Sink): Sink {
  return sink.dir === undefined ? sink : { ...sink, dir: resolve(base, sink.dir) };
}

/**
 * A bare name is looked for on the PATH. A path that stayed relative would lead into the folder an agent works in. The
 * words behind the program are its own business.
 */
function placePrograms(base: string, programs: Programs): Programs {
  const place = (program: string): string => (basename(program) === program ? program : resolve(base, program));
  const placeFirst = ([program = '', ...words]: readonly string[]): string[] => [place(program), ...words];
  return Object.fromEntries(
    Object.entries(programs).map(([engine, start]) => [
      engine,
      typeof start === 'string' ? place(start) : placeFirst(start),
    ]),
  );
}
