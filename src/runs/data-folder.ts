import { findDataFolder as find } from '../files/index.js';

/**
 * The default data folder of a project. This type and the function below repeat those in `files`, because their declarations
 * require the types of Node.js, which a user of the package may not have installed.
 */
export interface DataFolder {
  readonly path: string;
  /** A warning for the user. */
  readonly warning: string | undefined;
}

/**
 * Returns the default data folder of library calls: `SLUICE_DATA`, or else that of the project in the current folder.
 *
 * @example
 * findDataFolder().path // '/home/ada/.local/share/sluice/projects/shop-1f0c9a3b5d7e2468'
 */
export function findDataFolder(cwd?: string, env?: Readonly<Record<string, string | undefined>>): DataFolder {
  return find(cwd, env);
}
