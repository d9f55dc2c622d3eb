import { findDataFolder as find } from '../base/files/index.js';

/**
 * A project's default data folder. This type and the function below duplicate declarations in `files`, which require
 * the Node.js types; users of the package might not have those installed.
 */
export interface DataFolder {
  readonly path: string;
  /** A warning for the user. */
  readonly warning: string | undefined;
}

/**
 * Returns the default data folder for library calls: `SLUICE_DATA`, or else the folder of the current project.
 *
 * @example
 * findDataFolder().path // '/home/ada/.local/share/sluice/projects/shop-1f0c9a3b5d7e2468'
 */
export function findDataFolder(cwd?: string, env?: Readonly<Record<string, string | undefined>>): DataFolder {
  return find(cwd, env);
}
