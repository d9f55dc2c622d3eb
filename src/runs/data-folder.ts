import { findDataFolder as find } from '../files/index.js';

/**
 * Where the data of a project is by default. Written out here, as the function below: declarations of `files` need the types of
 * Node.js, which a user of the package may not have.
 */
export interface DataFolder {
  readonly path: string;
  /** A warning for the user. */
  readonly warning: string | undefined;
}

/**
 * The default data folder of library calls: `SLUICE_DATA`, else that of the project in the current folder.
 *
 * @example
 * findDataFolder().path // '/home/ada/.local/share/sluice/projects/shop-1f0c9a3b5d7e2468'
 */
export function findDataFolder(cwd?: string, env?: Readonly<Record<string, string | undefined>>): DataFolder {
  return find(cwd, env);
}
