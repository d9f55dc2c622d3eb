import { z } from 'zod';

const Locked = z.object({
  version: z.string().optional(),
  license: z.string().optional(),
  dev: z.boolean().optional(),
  devOptional: z.boolean().optional(),
  peer: z.boolean().optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
});

const Lock = z.object({ packages: z.record(z.string(), Locked) });

/** One installed package. */
export interface LockedPackage {
  /** Its path, as in `node_modules/ajv`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** An SPDX expression; empty if undeclared. */
  readonly licence: string;
  /** Whether users get it: as a dependency, or inside the console. */
  readonly isShipped: boolean;
}

const FOLDER = 'node_modules/';

/**
 * Lists the packages in a lock file. `bundled` names packages whose code is built into the console: they are
 * development dependencies, but shipped, together with their own dependencies.
 */
export function readLock(text: string, bundled: readonly string[]): LockedPackage[] {
  const { packages } = Lock.parse(JSON.parse(text));
  const shipped = new Set<string>();
  const queue = [...bundled];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (shipped.has(name)) continue;
    shipped.add(name);
    queue.push(...Object.keys(packages[`${FOLDER}${name}`]?.dependencies ?? {}));
  }
  return Object.entries(packages)
    .filter(([path]) => path.includes(FOLDER))
    .map(([path, { version = '', license = '', dev, devOptional, peer }]) => {
      const name = path.slice(path.lastIndexOf(FOLDER) + FOLDER.length);
      const isDependency = dev !== true && devOptional !== true && peer !== true;
      return { path, name, version, licence: license, isShipped: isDependency || shipped.has(name) };
    });
}
